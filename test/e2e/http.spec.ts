import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, person, untilHandled } from '../support/integrator.js';

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 10_000));

interface Sent {
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Record<string, string>;
}
const call = (method: string, path: string, sent: Sent = {}) => customer.call(method, `/api/v1${path}`, sent);
/** Status and code of the answer. */
const refusal = async (method: string, path: string, sent: Sent = {}) => {
  const { status, body } = await call(method, path, sent);
  return [status, body['code']];
};
const anyReading = `/readings/${randomUUID()}`;

describe('A refusal', () => {
  const large = JSON.stringify({ ...person(), surplus: 'x'.repeat(17_000) });
  const [wrongKey, text] = [{ 'x-api-key': 'none' }, { 'content-type': 'text/plain' }];
  const zipped = { 'content-encoding': 'gzip' };
  it.each<[string, number, string, Record<string, string>, string]>([
    ['size before credentials', 413, 'payload_too_large', { ...wrongKey, ...text }, large],
    ['credentials before media type', 401, 'unauthenticated', { ...wrongKey, ...text }, '{'],
    ['credentials before content coding', 401, 'unauthenticated', { ...wrongKey, ...zipped }, '{'],
    ['media type before body', 415, 'unsupported_media_type', text, '{'],
    ['content coding before body', 415, 'unsupported_media_type', zipped, '{'],
    ['body before idempotency key', 400, 'validation_failed', { 'idempotency-key': 'used' }, '{}'],
    ['an unknown product', 400, 'unknown_product', {}, JSON.stringify({ ...person(), productId: 'x' })],
  ])('comes in order: %s, %i %s', async (_, status, code, headers, raw) => {
    await customer.create(person(), { 'idempotency-key': 'used' });
    expect(await refusal('POST', '/readings', { raw, headers })).toEqual([status, code]);
  });

  it('for the kind of credentials comes before media type and body', async () => {
    const headers = { ...(await customer.bearer('readings:write')), ...text };
    const sent = { method: 'POST', headers, body: '{' };
    expect((await fetch(`${stack.baseUrl}/api/v1/readings`, sent)).status).toBe(403);
  });
});

it('A route that takes no body ignores that of a request', async () => {
  const sent = { raw: '{', headers: { 'content-type': 'text/plain' } };
  expect(await refusal('DELETE', '/webhooks/we_none', sent)).toEqual([404, 'webhook_not_found']);
});

describe('Every answer', () => {
  it.each([
    ['of success', '/api/v1/credits', {}],
    ['of refusal', '/api/v1/credits', { 'x-api-key': 'none' }],
    ['to an unknown path', '/nothing', {}],
  ])('%s is private to its caller', async (_, path, headers) => {
    const origin = 'https://evil.example';
    const told = Object.fromEntries(
      (await customer.call('GET', path, { headers: { origin, ...headers } })).headers,
    );
    expect(told).toMatchObject({
      'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const loose = /^access-control|^x-powered-by|^server$|cookie/;
    expect(Object.keys(told).filter((name) => loose.test(name))).toEqual([]);
  });

  it('leaves its connection open for longer than load balancers keep idle ones', async () => {
    const { headers } = await fetch(`${stack.baseUrl}/healthz`);
    expect(headers.get('keep-alive')).toBe('timeout=75');
  });
});

it.each([
  ['/readings', 'text/html', 406],
  [`${anyReading}/document?format=pdf`, 'image/png', 406],
  [`${anyReading}/document?format=markdown`, 'text/markdown; charset=utf-8', 404],
  ['/readings', 'text/html,'.repeat(1_000), 200],
  ['/credits', 'application/json;q=0.2, text/html', 200],
  ['/credits', 'application/json;charset=UTF-8, text/plain', 200],
])('Accept decides: %s as %.40s is %i', async (path, accept, status) => {
  expect((await call('GET', path, { headers: { accept } })).status).toBe(status);
});

describe('Prefer: wait', () => {
  const asked = (readingId: string, prefer: string) =>
    call('GET', `/readings/${readingId}`, { headers: { prefer } });

  it('holds the request until the state changes or the time is up, and no longer', async () => {
    process.kill(stack.pids().worker, 'SIGSTOP');
    const { readingId } = (await customer.create()).body;
    const held = asked(readingId, 'respond-async, wait=30');
    expect((await asked(readingId, 'wait=1')).body['status']).toBe('queued');
    process.kill(stack.pids().worker, 'SIGCONT');
    const { headers, body } = await held;
    expect([headers.get('preference-applied'), body['status'] !== 'queued']).toEqual(['wait=30', true]);
    await customer.untilEnded(readingId);
    const ended = await asked(readingId, 'wait=86400');
    expect([ended.headers.get('preference-applied'), ended.body['status']]).toEqual(['wait=60', 'completed']);
  });
});

it('A revoked key is refused at once, even without a worker to project it', async () => {
  const other = await customer.withKey();
  const use = async () => (await other.call('GET', '/api/v1/credits')).status;
  expect(await use()).toBe(200);
  process.kill(stack.pids().worker, 'SIGSTOP');
  try {
    await stack.ops(['key', 'revoke', '--key', other.apiKey.split('_')[2]!]);
    expect(await use()).toBe(401);
  } finally {
    process.kill(stack.pids().worker, 'SIGCONT');
  }
});

describe('Idempotency-Key', () => {
  const create = (key: string, description = 'a') =>
    call('POST', '/webhooks', {
      body: { url: 'https://receiver.example/hook', events: ['reading.completed'], description },
      headers: { 'idempotency-key': key },
    });
  const count = async () => ((await call('GET', '/webhooks')).body['data'] as unknown[]).length;

  it('on any POST lets one of many concurrent requests through, and the others get its answer or retry', async () => {
    const before = await count();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key)));
    for (const { status, headers } of answers)
      expect([
        [201, null],
        [409, '1'],
      ]).toContainEqual([status, headers.get('retry-after')]);
    const isReplay = ({ headers }: (typeof answers)[number]) =>
      headers.get('idempotency-replayed') === 'true';
    const [first, ...others] = answers.filter((one) => one.status === 201 && !isReplay(one));
    const again = await create(key);
    expect([others, isReplay(again)]).toEqual([[], true]);
    expect(again.headers.get('location')).toBe(first!.headers.get('location'));
    // Without the secret, which is shown once.
    const { signingSecret, ...rest } = first!.body;
    expect([signingSecret, again.body]).toEqual([expect.stringMatching(/^whsec_/), rest]);
    await untilHandled(stack);
    expect(await count()).toBe(before + 1);
  });

  it.each(['/api/v1/webhooks/', '/API/v1/webhooks', '/api//v1/webhooks'])(
    'makes nothing by another spelling of the path: %s',
    async (path) => {
      const body = { url: 'https://receiver.example/hook' };
      const headers = { 'idempotency-key': randomUUID() };
      expect((await call('POST', '/webhooks', { body, headers })).status).toBe(201);
      expect((await customer.call('POST', path, { body, headers })).status).toBe(404);
    },
  );

  it('is refused with another body, when it is malformed, and keeps nothing of a request that was refused', async () => {
    const key = randomUUID();
    const refused = { raw: '{"url":"nonsense"}', headers: { 'idempotency-key': key } };
    expect((await call('POST', '/webhooks', refused)).status).toBe(400);
    expect((await create(key)).status).toBe(201);
    const other = await create(key, 'b');
    expect([other.status, other.body['code']]).toEqual([422, 'idempotency_key_reused']);
    expect((await create('x'.repeat(256))).status).toBe(400);
  });
});
