import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { httpUnderTest } from './testing/http-under-test.js';

/** HTTP_BULK_LIMIT_BYTES of the application. */
const LARGEST = 8_192;
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

/** A bulk whose body does not come. The service has begun to wait for it. */
const hold = async (key: string) => {
  const held = await begin(key, LARGEST, { expect: '100-continue' });
  await once(held.asked, 'continue');
  return held;
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

  it('has room beside three others of its workspace; a further one is 429, those of others pass', async () => {
    const held = await Promise.all(Array.from({ length: 4 }, () => hold('of.ws_1')));
    expect(await (await begin('of.ws_1')).answer).toMatchObject({
      status: 429,
      code: 'rate_limited',
      retryAfter: '5',
    });
    expect(await send('of.ws_1', 1_024)).toMatchObject({ status: 201, bytes: 1_024 });
    expect(await send('of.ws_2')).toMatchObject({ status: 201 });
    const [first] = held;
    first!.asked.end(Buffer.alloc(LARGEST, 0x20));
    expect(await first!.answer).toMatchObject({ status: 201 });
    expect(await send('of.ws_1')).toMatchObject({ status: 201 });
  });

  it('has room beside fifteen others of the process; a further one is 503 until a caller has gone', async () => {
    const keys = ['of.ws_1', 'of.ws_2', 'of.ws_3', 'of.ws_4'];
    const held = await Promise.all([...keys, ...keys, ...keys, ...keys].map(hold));
    expect(await (await begin('of.ws_5')).answer).toMatchObject({
      status: 503,
      code: 'enqueue_unavailable',
      retryAfter: '5',
    });
    held[0]!.asked.destroy();
    let last = await send('of.ws_5');
    while (last.status === 503) last = await send('of.ws_5');
    expect(last).toMatchObject({ status: 201, bytes: LARGEST });
  });
});
