import { describe, expect, it } from '@jest/globals';
import { eventually, status } from '../../../test/receiver.js';
import { rawServer, send, senderWith, sending } from '../../../test/sending.js';

const test = sending();

describe('An attempt', () => {
  it('succeeds on 2xx', async () => {
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({ error: null, statusCode: 204 });
    expect(test.receiver.received).toMatchObject([
      { path: '/hook', headers: { 'accept-encoding': 'identity' } },
    ]);
  });

  it('does not follow a redirect', async () => {
    test.receiver.answer = status(302, { location: 'http://169.254.169.254/latest/meta-data' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'redirect_not_followed',
      statusCode: 302,
    });
    expect(test.receiver.received).toHaveLength(1);
  });

  it('sends no credentials and no cookies', async () => {
    test.receiver.answer = status(200, { 'set-cookie': 'session=1' });
    const sender = senderWith();
    await send(sender, test.receiver.url);
    await send(sender, test.receiver.url);
    for (const { headers } of test.receiver.received) {
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('authorization');
    }
  });

  it('reads Retry-After of 429 and 503 alone', async () => {
    test.receiver.answer = status(503, { 'retry-after': '120' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: 120_000,
    });
    test.receiver.answer = status(500, { 'retry-after': '120' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: null,
    });
  });

  it('waits as long as the longest Retry-After asks', async () => {
    test.receiver.answer = (response) =>
      response.writeHead(429, ['retry-after', '60', 'retry-after', '120']).end();
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({ retryAfterMs: 120_000 });
  });

  it('keeps a connection for the next, but shares none between endpoints', async () => {
    const sender = senderWith();
    await send(sender, test.receiver.url);
    await new Promise((resolve) => setImmediate(resolve));
    await send(sender, test.receiver.url);
    expect(test.receiver.sockets.size).toBe(1);
    await send(sender, test.receiver.url, 'we_b');
    expect(test.receiver.sockets.size).toBe(2);
  });

  it('ignores proxy variables', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:1',
      http_proxy: 'http://127.0.0.1:1',
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      expect(await send(senderWith(), test.receiver.url)).toMatchObject({ error: null });
    } finally {
      process.env = before;
    }
  });

  it('ends without a result when it is cancelled', async () => {
    test.receiver.answer = () => undefined;
    const sender = senderWith();
    const sent = send(sender, test.receiver.url);
    await eventually(() => test.receiver.received.length === 1);
    sender.cancel();
    expect(await sent).toBe('cancelled');
  });
});

describe('A receiver', () => {
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc';
  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

  /** Answers each request with these bytes. @returns the requests of each connection */
  const answering = async (answer: string, closes: boolean) => {
    const requests: number[] = [];
    const url = await rawServer((socket) => {
      const connection = requests.push(0) - 1;
      socket.on('data', (chunk) => {
        // Nothing can be answered on a connection that it has ended.
        if (!chunk.includes('{}') || !socket.writable) return;
        requests[connection]! += 1;
        socket.write(answer, 'latin1');
        if (closes) socket.end();
      });
    });
    return { url, requests };
  };

  it.each([
    ['100 first', CONTINUE + OK],
    ['100 with headers first', `HTTP/1.1 100 \r\nserver: a\r\n\r\n${OK}`],
    ['102 first', `HTTP/1.1 102 Processing\r\n\r\n${OK}`],
    ['103 first', `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`],
    ['several and unknown interim responses first', `${CONTINUE}${CONTINUE}HTTP/1.1 199 Busy\r\n\r\n${OK}`],
    ['204', `${CONTINUE}HTTP/1.1 204 No Content\r\n\r\n`],
    ['205', 'HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n'],
    ['an unknown 2xx', 'HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['no reason phrase', 'HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n'],
    [
      'a reason phrase and a field beyond ASCII',
      'HTTP/1.1 200 Re\xe7u\r\nx-a: \xe9\r\ncontent-length: 0\r\n\r\n',
    ],
    [
      'names in any case, values between spaces',
      'HTTP/1.1 200 OK\r\nCONTENT-length: \t3 \r\nx-a:\r\n\r\nabc',
    ],
    ['an empty line first', `\r\n${OK}`],
    [
      'an offer to upgrade',
      `HTTP/1.1 200 OK\r\nupgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 0\r\n\r\n`,
    ],
    [
      'chunks with extensions and trailers',
      `${CHUNKED}trailer: x-a\r\n\r\n3;a=b\r\nabc\r\n00\r\nx-a: b\r\n\r\n`,
    ],
    ['no chunk', `${CONTINUE}${CHUNKED}\r\n0\r\n\r\n`],
    [
      'HTTP/1.0 that keeps the connection',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 3\r\n\r\nabc',
    ],
  ])('that answers with %s has got each webhook once, on one connection', async (_, answer) => {
    const { url, requests } = await answering(answer, false);
    const sender = senderWith();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await send(sender, url)).toMatchObject({
        error: null,
        statusCode: Number(/ (2\d\d) /.exec(answer)![1]),
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(requests).toEqual([2]);
  });

  it.each([
    ['no length', 'HTTP/1.1 200 OK\r\n\r\nabc'],
    ['100 and no length', `${CONTINUE}HTTP/1.1 200 OK\r\n\r\nabc`],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nabc'],
    ['Connection: close', `${CONTINUE}HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n`],
    ['a final chunk and the end', `${CHUNKED}\r\n3\r\nabc\r\n0\r\n\r\n`],
  ])('that answers with %s and closes has got each webhook once', async (_, answer) => {
    const { url, requests } = await answering(answer, true);
    const sender = senderWith();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await send(sender, url)).toMatchObject({ error: null });
    expect(requests).toEqual([1, 1]);
  });

  it('may answer before it has read the request', async () => {
    const url = await rawServer((socket) => {
      socket.once('readable', () => socket.write(OK, () => socket.resume().end()));
    });
    expect(await send(senderWith(), url)).toMatchObject({ error: null, statusCode: 200 });
  });

  it.each([
    ['connection_lost', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc'],
    ['connection_lost', `${CHUNKED}\r\n3\r\nabc\r\n`],
    ['connection_lost', CONTINUE],
    ['http_error', `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n${OK}`],
    ['http_error', `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`],
  ])('has not got it when the response ends early or is for another protocol: %s', async (error, answer) => {
    const { url } = await answering(answer, true);
    expect(await send(senderWith(), url)).toMatchObject({ error });
  });
});
