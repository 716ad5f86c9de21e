import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { accepts, operations, requestOf } from '../support/described-requests.js';
import { Integrator, untilHandled, untilServed } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

let stack: Stack;
let customer: Integrator;
let endpointId: string;
/** Ids of the workspace's objects, by the name of the path's parameter. */
const known: Record<string, string> = {};
/** Routes that ignore unknown parameters. */
const LENIENT = ['/healthz', '/readyz', '/d/{token}'];

beforeAll(async () => {
  stack = await sharedStack();
  const plain = await Integrator.open(stack, 400);
  customer = await plain.withKey('--scopes', API_KEY_SCOPES.join(','));
  endpointId = (await newEndpoint('/api/v1/webhooks')).body['endpointId'] as string;
  known['endpointId'] = endpointId;
  const { body } = await customer.create();
  known['readingId'] = body.readingId;
  await customer.untilEnded(body.readingId);
  const links = `/api/v1/readings/${body.readingId}/document/links`;
  const link = await customer.call<{ url: string }>('POST', links, { body: { format: 'pdf' } });
  known['token'] = link.body.url.split('/').at(-1)!;
});

afterAll(async () => {
  await stack?.stop();
});

const newEndpoint = (path: string, key: string = randomUUID()) =>
  customer.call('POST', path, {
    body: { url: 'https://receiver.example.com/hook' },
    headers: { 'idempotency-key': key },
  });
const endpoints = async (): Promise<number> =>
  (await customer.call<{ data: unknown[] }>('GET', '/api/v1/webhooks')).body.data.length;

describe('A path has one spelling', () => {
  it.each([
    '/api/v1/webhooks/',
    '/API/v1/webhooks',
    '/api/V1/Webhooks',
    '/api//v1/webhooks',
    '//api/v1/webhooks',
  ])('another spelling is not found, so one Idempotency-Key makes one endpoint: %s', async (path) => {
    const before = await endpoints();
    const key = randomUUID();
    expect((await newEndpoint('/api/v1/webhooks', key)).status).toBe(201);
    const other = await newEndpoint(path, key);
    expect([other.status, other.body['code']]).toEqual([404, 'not_found']);
    await untilHandled(stack);
    expect(await endpoints()).toBe(before + 1);
  });

  it('an escaped id is the same id: one Idempotency-Key sends one test event', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const test = (id: string) =>
      untilServed(() => customer.call('POST', `/api/v1/webhooks/${id}/test`, { body: {}, headers }));
    const first = await test(endpointId);
    const again = await test(endpointId.replace('_', '%5F').replaceAll('-', '%2d'));
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });
});

describe('An unknown id', () => {
  const posts = operations.filter(({ method, ids }) => method === 'POST' && ids.length > 0);
  const wrong = [randomBytes(1_300).toString('hex'), '%00', '%F0%9F%92%A5'.repeat(200)];

  it.each(posts.map((operation) => [operation.path, operation] as const))(
    'is not found, also with an Idempotency-Key: %s',
    async (_, operation) => {
      expect(accepts(operation, 'apiKey')).toBe(true);
      for (const [place, name] of operation.ids.entries()) {
        for (const id of wrong) {
          const ids = { ...Object.fromEntries(operation.ids.map((one) => [one, endpointId])), [name]: id };
          const { method, target, body } = requestOf(operation, ids);
          const headers = { 'idempotency-key': randomUUID() };
          const answer = await customer.call(method, target, { body: body ?? {}, headers });
          expect([place, name, id.length, answer.status]).toEqual([place, name, id.length, 404]);
        }
      }
    },
  );
});

describe('An unknown query parameter', () => {
  it.each(
    operations
      .filter((one) => one.security.length === 0 || accepts(one, 'apiKey'))
      .map((one) => [`${one.method} ${one.path}`, one] as const),
  )('is refused and named: %s', async (_, operation) => {
    const ids = Object.fromEntries(operation.ids.map((name) => [name, known[name] ?? randomUUID()]));
    const { method, target, body } = requestOf(operation, ids, { staus: 'failed' });
    // A busy machine is not ready for a moment.
    const answer = await untilServed(() => customer.call(method, target, body === undefined ? {} : { body }));
    if (LENIENT.includes(operation.path)) {
      expect(answer.status).toBe(200);
      return;
    }
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { code: 'unknown_parameter', errors: [{ pointer: '?staus', code: 'unknown_parameter' }] },
    ]);
  });
});

describe('A known query parameter', () => {
  it.each([
    ['/api/v1/readings?limit=1&limit=2', '?limit', 'duplicate_parameter'],
    ['/api/v1/readings?status=failed&status=queued', '?status', 'duplicate_parameter'],
    ['/api/v1/readings?cursor=a&cursor=b', '?cursor', 'duplicate_parameter'],
    ['/api/v1/readings?limit=0', '?limit', 'invalid_value'],
    ['/api/v1/readings?limit=', '?limit', 'invalid_value'],
    ['/api/v1/readings?status=done', '?status', 'invalid_value'],
    ['/api/v1/readings?cursor=none', '?cursor', 'invalid_value'],
    ['/api/v1/events?type=none', '?type', 'unsupported_event_type'],
    ['/api/v1/webhooks?limit=x', '?limit', 'invalid_value'],
    ['ENDPOINT/deliveries?status=none', '?status', 'invalid_value'],
    ['ENDPOINT/deliveries?since=yesterday', '?since', 'invalid_value'],
    ['ENDPOINT/deliveries?undelivered=maybe', '?undelivered', 'invalid_value'],
    ['ENDPOINT/deliveries?readingId=x', '?readingId', 'invalid_value'],
    [
      'ENDPOINT/deliveries?since=2026-01-01T00:00:00Z&since=2026-01-02T00:00:00Z',
      '?since',
      'duplicate_parameter',
    ],
  ])('is named when malformed or duplicate: %s', async (path, pointer, code) => {
    const { status, body } = await customer.call(
      'GET',
      path.replace('ENDPOINT', `/api/v1/webhooks/${endpointId}`),
    );
    expect([status, body['errors'], JSON.stringify(body)]).toEqual([
      400,
      [expect.objectContaining({ pointer, code })],
      expect.not.stringContaining('body'),
    ]);
  });
});
