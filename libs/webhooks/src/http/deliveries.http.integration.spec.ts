import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TestApi } from '../../test/api.js';
import { failure, reading } from '../../test/events.js';
import { startDatabase, type TestDatabase } from '../../test/postgres.js';
import { Receiver, eventually, status } from '../../test/receiver.js';
import { TestService, wipe } from '../../test/service.js';

const WS = 'ws_1';

interface Delivery {
  readonly deliveryId: string;
  readonly readingId: string;
  readonly type: string;
  readonly status: string;
  readonly sequence: number;
}

let database: TestDatabase;
let api: TestApi;
let sending: TestService;
let receiver: Receiver;
let endpointId: string;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  receiver = await Receiver.start();
  api = await TestApi.start(database, { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_ALLOW_HTTP: '1' });
  sending = new TestService(database, { settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,20' } });
  sending.dispatch();
  ({ endpointId } = await api.createEndpoint(WS, { url: receiver.url }));
});
afterEach(async () => {
  await sending.stop();
  await api.stop();
  await receiver.stop();
});

const get = (path: string) => api.request('get', `/webhooks/${endpointId}${path}`, WS);
const list = async (query = ''): Promise<readonly Delivery[]> =>
  ((await get(`/deliveries${query}`).expect(200)).body as { data: Delivery[] }).data;
const settled = (): Promise<void> =>
  eventually(async () => (await list()).every(({ status: is }) => is !== 'pending'));

/** Two readings, the first of them failed, then a third while the endpoint is disabled. */
const happenVariously = async (): Promise<readonly [string, string, string]> => {
  const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
  receiver.answer = (response, { body }) =>
    body.includes(ids[0]) ? status(500)(response, undefined as never, 0) : response.writeHead(204).end();
  await api.happen(WS, reading(ids[0]).completed({ at: Date.parse('2026-04-02T00:00:00Z') }));
  await api.happen(WS, reading(ids[1]).completed({ at: Date.parse('2026-04-03T00:00:00Z') }));
  await api.happen(WS, reading(ids[1]).published({ at: Date.parse('2026-04-04T00:00:00Z') }));
  await settled();
  await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false });
  await api.happen(WS, ...failure(ids[2], Date.parse('2026-04-05T00:00:00Z')));
  return ids;
};

describe('GET …/deliveries', () => {
  it('filters by status, type, reading and time, alone and together', async () => {
    const [one, two, three] = await happenVariously();
    const readings = async (query: string) => (await list(query)).map(({ readingId }) => readingId);
    expect(await readings('')).toEqual([three, two, two, one]);
    expect(await readings('?status=exhausted')).toEqual([one]);
    expect(await readings('?status=exhausted,skipped')).toEqual([three, one]);
    expect(await readings('?type=reading.completed')).toEqual([two, one]);
    expect(await readings(`?readingId=${two}`)).toEqual([two, two]);
    expect(await readings('?since=2026-04-03T00:00:00Z')).toEqual([three, two, two]);
    expect(await readings('?until=2026-04-03T00:00:00Z')).toEqual([one]);
    expect(await readings('?since=2026-04-03T02:00:00%2B02:00&until=2026-04-04T00:00:00Z')).toEqual([two]);
    expect(await readings(`?readingId=${two}&type=reading.published&status=succeeded`)).toEqual([two]);
    expect(await readings(`?readingId=${two}&status=exhausted`)).toEqual([]);
  });

  it('can show only events that have not reached the endpoint by any delivery', async () => {
    const [one, , three] = await happenVariously();
    const undelivered = async () => (await list('?undelivered=true')).map(({ readingId }) => readingId);
    expect(await undelivered()).toEqual([three, one]);
    await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: true });
    receiver.answer = (response) => response.writeHead(200).end();
    const [failed] = await list(`?readingId=${one}`);
    await api
      .request('post', `/webhooks/${endpointId}/deliveries/${failed!.deliveryId}/redeliver`, WS)
      .expect(202);
    await settled();
    expect(await undelivered()).toEqual([three]);
    expect(await list('?undelivered=false')).toHaveLength(5);
  });

  it('continues from a cursor, only with the same filters', async () => {
    await happenVariously();
    const first = (await get('/deliveries?limit=1&type=reading.completed')).body as {
      data: Delivery[];
      nextCursor: string;
    };
    const second = (await get(`/deliveries?type=reading.completed&cursor=${first.nextCursor}`))
      .body as typeof first;
    expect([...first.data, ...second.data].map(({ type }) => type)).toEqual(
      Array(2).fill('reading.completed'),
    );
    expect(second.nextCursor).toBeNull();
    await get(`/deliveries?cursor=${first.nextCursor}`).expect(400);
    await get(`/deliveries?type=reading.failed&cursor=${first.nextCursor}`).expect(400);
  });

  it.each([
    ['status=lost', '?status', 'invalid_value'],
    ['type=ping', '?type', 'unsupported_event_type'],
    ['readingId=1', '?readingId', 'invalid_value'],
    ['since=yesterday', '?since', 'invalid_value'],
    ['until=2026-04-04', '?until', 'invalid_value'],
    ['undelivered=maybe', '?undelivered', 'invalid_value'],
  ])('refuses %s', async (query, pointer, code) => {
    expect((await get(`/deliveries?${query}`).expect(400)).body).toMatchObject({
      errors: [{ pointer, code }],
    });
  });
});

describe('GET …/deliveries/{deliveryId}', () => {
  it('shows every attempt, and of answers only class and status', async () => {
    receiver.answer = status(503);
    await api.happen(WS, reading(randomUUID()).completed({ at: Date.now() }));
    await settled();
    const [delivery] = await list();
    const { body, text } = await get(`/deliveries/${delivery!.deliveryId}`).expect(200);
    const attempt = {
      startedAt: expect.stringMatching(/Z$/),
      durationMs: expect.any(Number),
      statusCode: 503,
      error: 'http_error',
    };
    expect(body).toEqual({
      ...delivery,
      history: [
        { number: 1, ...attempt },
        { number: 2, ...attempt },
      ],
    });
    expect(text).not.toContain('answer');
  });

  it('does not find a delivery of another endpoint', async () => {
    await api.happen(WS, reading(randomUUID()).completed());
    const [{ deliveryId }] = (await list()) as [Delivery];
    const other = await api.createEndpoint(WS, { url: receiver.url });
    const found = await api
      .request('get', `/webhooks/${other.endpointId}/deliveries/${deliveryId}`, WS)
      .expect(404);
    expect(found.body).toMatchObject({ code: 'delivery_not_found' });
  });
});

describe('GET …/health', () => {
  it('shows the state, the queue, and the outcomes of attempts', async () => {
    expect((await get('/health').expect(200)).body).toEqual({
      state: 'ok',
      failingSince: null,
      disabledReason: null,
      consecutiveFailures: 0,
      pending: 0,
      queueAgeSeconds: 0,
      nextAttemptAt: null,
      lastSuccessAt: null,
      attempts: {},
    });
    receiver.answer = (response, received, index) =>
      status(index === 0 ? 200 : 500)(response, received, index);
    await api.happen(WS, reading(randomUUID()).completed());
    await settled();
    await api.happen(WS, reading(randomUUID()).completed());
    await settled();
    expect((await get('/health')).body).toMatchObject({
      state: 'failing',
      consecutiveFailures: 2,
      lastSuccessAt: expect.stringMatching(/Z$/),
      attempts: { succeeded: 1, http_error: 2 },
    });
    await sending.stop();
    await api.happen(WS, reading(randomUUID()).completed({ at: Date.now() - 60_000 }));
    const { body } = await get('/health');
    expect(body).toMatchObject({ pending: 1, nextAttemptAt: expect.stringMatching(/Z$/) });
    expect((body as { queueAgeSeconds: number }).queueAgeSeconds).toBeGreaterThanOrEqual(60);
    sending = new TestService(database);
  });
});
