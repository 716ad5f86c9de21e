import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { httpUnderTest, LARGEST } from './testing/http-under-test.js';

const { listen } = httpUnderTest();
const open: ClientRequest[] = [];

afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Sends the head of a bulk, and its body only when asked to. A `length` of null sends it in chunks. */
const begin = async (key: string, length: number | null = LARGEST, headers: Record<string, string> = {}) => {
  const asked = request({
    port: await listen(),
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/v1/readings/bulk',
    headers: {
      'x-api-key': key,
      'content-type': 'application/x-ndjson',
      ...(length === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }),
      ...headers,
    },
  });
  open.push(asked);
  asked.on('error', () => undefined);
  const answer = (async () => {
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const { code, bytes, detail } = (await json(response)) as Record<string, unknown>;
    return { status: response.statusCode, code, bytes, detail, retryAfter: response.headers['retry-after'] };
  })();
  answer.catch(() => undefined);
  asked.flushHeaders();
  return { asked, answer };
};

const send = async (key: string, length = LARGEST) => {
  const { asked, answer } = await begin(key, length);
  asked.end(Buffer.alloc(length, 0x20));
  return answer;
};

/** A bulk of which so many bytes have been sent, which the service waits for. */
const hold = async (key: string, bytes = LARGEST - 1) => {
  const held = await begin(key, LARGEST, { expect: '100-continue' });
  await once(held.asked, 'continue');
  held.asked.write(Buffer.alloc(bytes, 0x20));
  return held;
};

/** The answer to the first bulk that is not taken: what was sent before has come by then. */
const refused = async (key: string) => {
  for (;;) {
    const answer = await send(key);
    if (answer.status !== 201) return answer;
  }
};

describe('the body of a large bulk', () => {
  it.each([
    ['nonsense', 401, 'unauthenticated'],
    ['ended', 401, 'unauthenticated'],
    ['elsewhere', 403, 'network_not_allowed'],
    ['unjudged', 503, 'enqueue_unavailable'],
  ])('is not waited for when the key is not valid: %s', async (key, status, code) => {
    for (const length of [LARGEST, null])
      expect(await (await begin(key, length)).answer).toMatchObject({ status, code });
  });

  it('is taken from a caller with a valid key, up to the limit', async () => {
    expect(await send('good')).toMatchObject({ status: 201, bytes: LARGEST });
    const { asked, answer } = await begin('good', null);
    asked.end(Buffer.alloc(LARGEST, 0x20));
    expect(await answer).toMatchObject({ status: 201, bytes: LARGEST });
    expect(await send('good', LARGEST + 1)).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  it('is not waited for when the key may not order readings', async () => {
    expect(await (await begin('scopes.credits-read')).answer).toMatchObject({ status: 403 });
  });

  it('takes no room before it comes', async () => {
    const idle = ['of.ws_1', 'of.ws_2', 'of.ws_3', 'of.ws_4', 'of.ws_5'];
    await Promise.all([...idle, ...idle, ...idle, ...idle].map((key) => hold(key, 1)));
    for (const key of ['of.ws_1', 'of.ws_6']) expect(await send(key)).toMatchObject({ status: 201 });
  });

  it.each([
    ['three others of its workspace', ['of.ws_1', 'of.ws_1', 'of.ws_1', 'of.ws_1'], 429, 'rate_limited'],
    [
      'fifteen others of the process',
      Array.from({ length: 16 }, (_, n) => `of.ws_${2 + (n % 4)}`),
      503,
      'enqueue_unavailable',
    ],
  ])('has room beside %s; a further one must wait until a caller has gone', async (_, keys, status, code) => {
    const held = await Promise.all(keys.map((key) => hold(key)));
    expect(await refused('of.ws_1')).toMatchObject({ status, code, retryAfter: '5' });
    expect(await send('of.ws_1', 1_024)).toMatchObject({ status: 201, bytes: 1_024 });
    if (status === 429) expect(await send('of.ws_2')).toMatchObject({ status: 201 });
    held[0]!.asked.destroy();
    let last = await send('of.ws_1');
    while (last.status === status) last = await send('of.ws_1');
    expect(last).toMatchObject({ status: 201, bytes: LARGEST });
  });
});

describe('a body in thousands of pieces', () => {
  /** The status, or the error of the connection, for a body of which each piece is a chunk of its own. */
  const outcome = async (path: string, pieces: number, piece: string): Promise<unknown> => {
    const socket = connect(await listen(), '127.0.0.1');
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: good\r\ncontent-type: application/x-ndjson\r\n` +
        `connection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(pieces)}0\r\n\r\n`,
    );
    return text(socket).then(
      (answer) => Number(answer.slice(9, 12)),
      (error: unknown) => (error as { code?: string }).code,
    );
  };

  it.each(['/lines', '/api/v1/readings/bulk'])('is cut off: %s', async (path) => {
    expect(await outcome(path, 15_000, ' ')).toBe('ECONNRESET');
  });

  it('is taken where each piece is a line of a bulk', async () => {
    expect(await outcome('/api/v1/readings/bulk', 1_000, `${'x'.repeat(LARGEST / 2_000)}\n`)).toBe(201);
  });
});
