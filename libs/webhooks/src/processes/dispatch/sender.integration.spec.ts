import { describe, expect, it, jest, afterEach, beforeEach } from '@jest/globals';
import { createServer as createTlsServer } from 'node:tls';
import { eventually, status, Receiver } from '../../../test/receiver.js';
import {
  type SenderOptions,
  listen,
  rawServer,
  send,
  senderWith,
  sending,
  PATIENCE_MS,
} from '../../../test/sending.js';
import { type ResolveHost, openSender, type Sender } from './sender.js';
import { makeCertificate } from '../../../test/certificate.js';
import { Proxy } from '../../../test/proxy.js';
import { egressProxy } from './connections.js';

const test = sending();

describe('An attempt', () => {
  it('does not follow a redirect', async () => {
    test.receiver.answer = status(302, { location: 'http://169.254.169.254/latest/meta-data' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'redirect_not_followed',
      statusCode: 302,
    });
    expect(test.receiver.received).toHaveLength(1);
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
    ['several and unknown interim responses first', `${CONTINUE}${CONTINUE}HTTP/1.1 199 Busy\r\n\r\n${OK}`],
    ['an unknown 2xx', 'HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n'],
    [
      'an offer to upgrade',
      `HTTP/1.1 200 OK\r\nupgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 0\r\n\r\n`,
    ],
    [
      'chunks with extensions and trailers',
      `${CHUNKED}trailer: x-a\r\n\r\n3;a=b\r\nabc\r\n00\r\nx-a: b\r\n\r\n`,
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

describe('A name', () => {
  it('is resolved once; its address is dialled and the name is only sent', async () => {
    const asked: string[] = [];
    const resolve: ResolveHost = async (name) => {
      asked.push(name);
      return ['127.0.0.1'];
    };
    const result = await send(senderWith({ resolve }), `http://receiver.example:${test.receiver.port}/hook`);
    expect(result).toMatchObject({ error: null });
    expect(asked).toEqual(['receiver.example']);
    expect(test.receiver.received[0]!.headers).toMatchObject({
      host: `receiver.example:${test.receiver.port}`,
    });
  });

  it('that resolves differently the next time is checked again', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const sender = senderWith({ resolve: async () => answers.shift()! });
    const url = `http://receiver.example:${test.receiver.port}/`;
    expect(await send(sender, url)).toMatchObject({ error: null });
    expect(await send(sender, url)).toMatchObject({ error: 'dns_failed' });
  });

  it.each([
    [['127.0.0.1', '10.0.0.1'], 'one private among others'],
    [['169.254.169.254'], 'a metadata address'],
    [['::ffff:10.0.0.1'], 'a mapped address'],
  ])('that leads to %j is not dialled, and the operator is told why: %s', async (addresses) => {
    const told: string[] = [];
    const sender = senderWith({ resolve: async () => addresses, blocked: (host) => told.push(host) });
    expect(await send(sender, `http://receiver.example:${test.receiver.port}/`)).toMatchObject({
      error: 'dns_failed',
    });
    expect(told).toEqual(['receiver.example']);
    expect(test.receiver.sockets.size).toBe(0);
  });

  it('with thousands of addresses is not dialled, and none of them is looked at', async () => {
    const looked = jest.fn(() => '127.0.0.1');
    const many = Array.from({ length: 5_000 });
    const addresses = new globalThis.Proxy(many, {
      get: (all, key) => (typeof key === 'string' && /^\d+$/.test(key) ? looked() : Reflect.get(all, key)),
    }) as string[];
    const sender = senderWith({ resolve: async () => addresses });
    expect(await send(sender, `http://receiver.example:${test.receiver.port}/`)).toMatchObject({
      error: 'dns_failed',
    });
    expect(looked).not.toHaveBeenCalled();
    expect(test.receiver.sockets.size).toBe(0);
  });

  it('without an address is a separate class of failure, and so is a resolver that hangs', async () => {
    const url = 'http://receiver.example/';
    expect(await send(senderWith({ resolve: async () => [] }), url)).toMatchObject({ error: 'dns_failed' });
    const failing = senderWith({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await send(failing, url)).toMatchObject({ error: 'dns_failed' });
    const hanging = senderWith({ resolve: () => new Promise(() => undefined), exchangeTimeoutMs: 100 });
    expect(await send(hanging, url)).toMatchObject({ error: 'timeout' });
  });
});

describe('An address in the URL', () => {
  it.each(['http://127.0.0.1/', 'http://[::ffff:7f00:1]/', 'http://169.254.169.254/'])(
    'is checked at every attempt: %s',
    async (url) => {
      expect(await send(senderWith({ allowCidrs: [] }), url)).toMatchObject({ error: 'blocked_address' });
    },
  );

  it('where nobody listens is a failed connection', async () => {
    const { port } = test.receiver;
    await test.receiver.stop();
    expect(await send(senderWith(), `http://127.0.0.1:${port}/`)).toMatchObject({ error: 'connect_failed' });
    test.receiver = await Receiver.start();
  });
});

describe('Through a proxy', () => {
  /** Of a proxy that is down. */
  const nobodysUrl = async (): Promise<string> => {
    const gone = await Proxy.start();
    const url = gone.url();
    await gone.stop();
    return url;
  };

  let proxy: Proxy;
  let sender: Sender;

  const use = (url: string, options: SenderOptions = {}): void => {
    sender = senderWith({ ...options, proxy: egressProxy(url) });
  };

  beforeEach(async () => {
    proxy = await Proxy.start();
    use(proxy.url());
  });
  afterEach(async () => {
    sender.cancel();
    await proxy.stop();
  });

  it('gives the proxy the checked address and the receiver the name, and keeps the connection', async () => {
    const url = `http://receiver.example:${test.receiver.port}/hook`;
    expect(await send(sender, url)).toMatchObject({ error: null, statusCode: 204 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await send(sender, url)).toMatchObject({ error: null });
    expect(proxy.asked).toEqual([{ authority: `127.0.0.1:${test.receiver.port}`, authorization: undefined }]);
    expect(test.receiver.received[0]).toMatchObject({
      path: '/hook',
      headers: { host: `receiver.example:${test.receiver.port}` },
    });
    expect(test.receiver.received[0]!.headers).not.toHaveProperty('proxy-authorization');
  });

  it('verifies certificates by the name, as without a proxy', async () => {
    const names: string[] = [];
    const identity = await makeCertificate({ name: 'receiver.example' });
    const server = createTlsServer({
      ...identity,
      SNICallback: (name, done) => (names.push(name), done(null)),
    });
    server.on('tlsClientError', () => undefined);
    const port = await listen(server);
    expect(await send(sender, `https://receiver.example:${port}/`)).toMatchObject({ error: 'tls_error' });
    expect(names).toEqual(['receiver.example']);
    expect(proxy.asked).toMatchObject([{ authority: `127.0.0.1:${port}` }]);
  });

  it('shows its login to the proxy alone, whatever fails', async () => {
    const said: unknown[] = [];
    sender = openSender({
      config: {
        ...{ WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_CIDRS: ['127.0.0.0/8'] },
        WEBHOOK_ATTEMPT_TIMEOUT_MS: PATIENCE_MS,
        WEBHOOK_PROXY_URL: proxy.url('worker:canary@'),
      } as never,
      resolve: async () => ['127.0.0.1'],
      clock: { now: () => 0 },
      log: { warn: (...line: unknown[]) => void said.push(line) },
      connectTimeoutMs: PATIENCE_MS,
    });
    proxy.refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
    const results = [await send(sender, test.receiver.url)];
    const encoded = Buffer.from('worker:canary').toString('base64');
    expect(proxy.asked).toMatchObject([{ authorization: `Basic ${encoded}` }]);
    await proxy.stop();
    // The second time, it is not logged again.
    results.push(await send(sender, test.receiver.url), await send(sender, test.receiver.url));
    proxy = await Proxy.start();
    expect(results.map((result) => (result === 'cancelled' ? result : result.error))).toEqual(
      Array.from({ length: 3 }, () => 'proxy_failed'),
    );
    expect(said).toHaveLength(2);
    expect(JSON.stringify([said, results])).not.toMatch(new RegExp(`canary|${encoded}`));
  });

  it.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n', 'proxy_failed'],
    ['HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n', 'connect_failed'],
    ['HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n', 'connect_failed'],
    ['SSH-2.0-OpenSSH_9.6\r\n', 'connect_failed'],
    ['', 'timeout'],
  ])('fails when the proxy answers %j', async (refusal, error) => {
    proxy.refusal = refusal;
    if (error === 'timeout') use(proxy.url(), { connectTimeoutMs: 200 });
    expect(await send(sender, test.receiver.url)).toMatchObject({ error });
    expect(test.receiver.received).toEqual([]);
  });

  it('fails when the proxy is unreachable, and differently when the receiver is', async () => {
    const { url } = test.receiver;
    await test.receiver.stop();
    expect(await send(sender, url)).toMatchObject({ error: 'connect_failed' });
    test.receiver = await Receiver.start();
    use(await nobodysUrl());
    expect(await send(sender, test.receiver.url)).toMatchObject({ error: 'proxy_failed' });
  });
});
