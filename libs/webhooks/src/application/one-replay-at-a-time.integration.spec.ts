import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TestApi } from '../../test/api.js';
import { reading } from '../../test/events.js';
import { startDatabase, type TestDatabase } from '../../test/postgres.js';
import { eventually } from '../../test/receiver.js';
import { wipe } from '../../test/service.js';
import type { ReplayRecord } from '../contracts/deliveries.js';
import { replayTask, rescueAbandoned } from './replay.js';
import { ALL_DELIVERIES } from '../read-models/delivery-sql.js';
import { skipNext } from '../processes/skip-pending.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const WS = 'ws_1';
const SINCE = '2026-04-01T00:00:00Z';
const EVENTS = 5;
const ALL = ['missing', 'skipped', 'exhausted', 'succeeded'];
const HOUR = 3_600_000;
let api: TestApi;
let endpointId: string;
beforeEach(async () => {
  await wipe(database);
  // Nothing sends: queued deliveries stay pending.
  api = await TestApi.start(database);
  for (let n = 0; n < EVENTS; n += 1) await api.happen(WS, reading(randomUUID()).completed());
  ({ endpointId } = await api.createEndpoint(WS));
});
afterEach(() => api.stop());

const ask = (body: object = {}, headers: Record<string, string> = {}, at: TestApi = api) =>
  at
    .request('post', `/webhooks/${endpointId}/replay`, WS, { since: SINCE, statuses: ALL, ...body })
    .set(headers);
const asked = async (body: object = {}): Promise<ReplayRecord> =>
  (await ask(body).expect(202)).body as ReplayRecord;
const path = ({ replayId }: ReplayRecord): string => `/webhooks/${endpointId}/replays/${replayId}`;
const find = async (replay: ReplayRecord): Promise<ReplayRecord> =>
  (await api.request('get', path(replay), WS).expect(200)).body as ReplayRecord;
const work = ({ replayId }: ReplayRecord): Promise<void> =>
  replayTask(database.pool, { now: () => Date.now() }).handle({ replayId }, new AbortController().signal);
const change = (body: object) => api.request('patch', `/webhooks/${endpointId}`, WS, body).expect(200);
const count = async (what: string): Promise<number> =>
  (await database.pool.query(`select from ${what.replace(/^delivery/, ALL_DELIVERIES)}`)).rowCount ?? 0;

describe('While a replay of an endpoint runs', () => {
  it('another is refused, and the response names the one that runs', async () => {
    const first = await asked();
    const { body, headers } = await ask().expect(409);
    expect(body).toMatchObject({ code: 'replay_in_progress', replayId: first.replayId });
    expect((body as { detail: string }).detail).toContain(`/api/v1${path(first)}`);
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect(await count('webhooks.replay')).toBe(1);
    await work(first);
    await asked();
  });

  it('one of many requests starts one, whichever process they reach', async () => {
    const other = await TestApi.start(database, {}, api.store);
    try {
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) => ask({}, {}, n % 2 ? other : api)),
      );
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(23);
      const { replayId } = answers.find(({ status }) => status === 202)!.body as ReplayRecord;
      expect(new Set(answers.map(({ body }) => (body as ReplayRecord).replayId))).toEqual(
        new Set([replayId]),
      );
    } finally {
      await other.stop();
    }
  });

  it('the same Idempotency-Key gets the first answer', async () => {
    const key = { 'idempotency-key': 'again' };
    const [first, ...rest] = await Promise.all(Array.from({ length: 8 }, () => ask({}, key)));
    for (const again of rest) expect([again.status, again.body]).toEqual([202, first!.body]);
    // A refused request does not use its key.
    await ask({}, { 'idempotency-key': 'other' }).expect(409);
    await work(first!.body as ReplayRecord);
    expect((await ask({}, { 'idempotency-key': 'other' }).expect(202)).body).not.toEqual(first!.body);
  });

  it('other endpoints may run one, and a few dry runs may run', async () => {
    const first = await asked();
    const other = await api.createEndpoint(WS);
    await api.request('post', `/webhooks/${other.endpointId}/replay`, WS, { since: SINCE }).expect(202);
    const dry = await Promise.all(Array.from({ length: 30 }, () => ask({ dryRun: true })));
    const counting = dry.filter(({ status }) => status === 202).map(({ body }) => body as ReplayRecord);
    expect(counting).toHaveLength(10);
    const refused = dry.find(({ status }) => status === 409)!.body as ReplayRecord;
    expect(counting.map(({ replayId }) => replayId)).toContain(refused.replayId);
    await work(first);
    // Dry runs do not stop a real one from starting.
    await asked();
    await work(counting[0]!);
    await ask({ dryRun: true }).expect(202);
  });
});

describe('A replay that does not end', () => {
  it('can be stopped, and another started', async () => {
    const first = await asked();
    const { body } = await api.request('delete', path(first), WS).expect(200);
    expect(body).toMatchObject({
      replayId: first.replayId,
      state: 'stopped',
      finishedAt: expect.any(String),
    });
    await work(first);
    expect(await count('delivery')).toBe(0);
    await work(await asked());
    expect(await count('delivery')).toBe(EVENTS);
  });

  it('ends by itself when no worker could continue it for a day', async () => {
    const first = await asked();
    await rescueAbandoned(database.pool, Date.now() + 23 * HOUR);
    expect((await find(first)).state).toBe('queued');
    await rescueAbandoned(database.pool, Date.now() + 25 * HOUR);
    expect((await find(first)).state).toBe('stopped');
    await asked();
  });
});

describe('Replays one after the other', () => {
  it('queue no event that is still pending for the endpoint', async () => {
    for (let n = 0; n < 4; n += 1) await work(await asked());
    expect(await count('delivery')).toBe(EVENTS);
    // The receiver had one of them and receives it again, once.
    await database.pool.query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at, created_at)
       select gen_random_uuid(), endpoint_id, workspace_id, event_id, reading_id, sequence, 'succeeded', now(), now()
       from webhooks.delivery limit 1`,
    );
    const again = await asked({ statuses: ['succeeded'] });
    await work(again);
    expect(await find(again)).toMatchObject({ state: 'finished', events: 0 });
    expect(await count('delivery')).toBe(EVENTS + 1);
  });

  it('leave no extra deliveries at an endpoint that is disabled each time', async () => {
    for (let n = 0; n < 3; n += 1) {
      await work(await asked());
      await change({ enabled: false });
      await eventually(async () => {
        await skipNext(database.pool);
        return (await count(`delivery where status = 'pending'`)) === 0;
      });
      await change({ enabled: true });
    }
    expect(await count(`delivery where status = 'skipped'`)).toBe(EVENTS);
  });
});

describe('When requested repeatedly', () => {
  const redeliver = (deliveryId: string) =>
    api.request('post', `/webhooks/${endpointId}/deliveries/${deliveryId}/redeliver`, WS).expect(202);
  const someDelivery = async (): Promise<string> => {
    await api.happen(WS, reading(randomUUID()).completed());
    const { rows } = await database.pool.query<{ delivery_id: string }>(
      'select delivery_id from webhooks.delivery limit 1',
    );
    return rows[0]!.delivery_id;
  };

  it('a pending redelivery is the same one', async () => {
    const deliveryId = await someDelivery();
    const answers = await Promise.all(Array.from({ length: 12 }, () => redeliver(deliveryId)));
    const ids = new Set(answers.map(({ body }) => (body as { deliveryId: string }).deliveryId));
    expect([ids.size, await count('delivery')]).toEqual([1, 2]);
    // Also when the redelivery itself is redelivered.
    expect((await redeliver([...ids][0]!)).body).toMatchObject({ deliveryId: [...ids][0] });
    await database.pool.query(`update webhooks.delivery set status = 'succeeded', settled_at = now()`);
    expect(ids).not.toContain(((await redeliver(deliveryId)).body as { deliveryId: string }).deliveryId);
  });

  it('a redelivery to a disabled endpoint is skipped once', async () => {
    const deliveryId = await someDelivery();
    await change({ enabled: false });
    for (let n = 0; n < 3; n += 1)
      expect((await redeliver(deliveryId)).body).toMatchObject({ status: 'skipped', redelivery: true });
    expect(await count('delivery where redelivery')).toBe(1);
  });

  it('test events are refused while ten wait to be sent', async () => {
    const sendTest = () => api.request('post', `/webhooks/${endpointId}/test`, WS);
    const answers = await Promise.all(Array.from({ length: 14 }, sendTest));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('10') });
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect([
      await count('delivery where test'),
      await count('webhooks.public_event where position is null'),
    ]).toEqual([10, 10]);
    await database.pool.query(
      `update webhooks.delivery set status = 'exhausted', settled_at = now() where test`,
    );
    await sendTest().expect(202);
  });
});
