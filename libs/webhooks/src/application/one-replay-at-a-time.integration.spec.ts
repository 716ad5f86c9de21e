import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { TestApi } from '../../test/api.js';
import { reading } from '../../test/events.js';
import { SINCE, WS, replaying } from '../../test/replaying.js';
import type { ReplayRecord } from '../contracts/deliveries.js';
import { rescueAbandoned } from './replay.js';
import { ALL_DELIVERIES } from '../read-models/delivery-sql.js';

const EVENTS = 5;
const ALL = ['missing', 'skipped', 'exhausted', 'succeeded'];
const HOUR = 3_600_000;
const test = replaying();
let endpointId: string;
beforeEach(async () => {
  // Queued deliveries stay pending.
  await test.sending.stop();
  for (let n = 0; n < EVENTS; n += 1) await test.api.happen(WS, reading(randomUUID()).completed());
  endpointId = await test.endpoint();
});

const ask = (body: object = {}, at = test.api) =>
  at.request('post', `/webhooks/${endpointId}/replay`, WS, { since: SINCE, statuses: ALL, ...body });
const asked = (body: object = {}) => test.accepted(endpointId, { statuses: ALL, ...body });
const path = ({ replayId }: ReplayRecord): string => `/webhooks/${endpointId}/replays/${replayId}`;
const count = async (what: string): Promise<number> =>
  (await test.database.pool.query(`select from ${what.replace(/^delivery/, ALL_DELIVERIES)}`)).rowCount ?? 0;

describe('While a replay of an endpoint runs', () => {
  it('another is refused, and the response names the one that runs', async () => {
    const first = await asked();
    const { body, headers } = await ask().expect(409);
    expect(body).toMatchObject({ code: 'replay_in_progress', replayId: first.replayId });
    expect((body as { detail: string }).detail).toContain(`/api/v1${path(first)}`);
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect(await count('webhooks.replay')).toBe(1);
    await test.work(first);
    await asked();
  });

  it('one of many requests starts one, whichever process they reach', async () => {
    const other = await TestApi.start(test.database, {}, test.api.store);
    try {
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) => ask({}, n % 2 ? other : test.api)),
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

  it('other endpoints may run one, and a few dry runs may run', async () => {
    const first = await asked();
    const other = await test.api.createEndpoint(WS);
    await test.api.request('post', `/webhooks/${other.endpointId}/replay`, WS, { since: SINCE }).expect(202);
    const dry = await Promise.all(Array.from({ length: 30 }, () => ask({ dryRun: true })));
    const counting = dry.filter(({ status }) => status === 202).map(({ body }) => body as ReplayRecord);
    expect(counting).toHaveLength(10);
    const refused = dry.find(({ status }) => status === 409)!.body as ReplayRecord;
    expect(counting.map(({ replayId }) => replayId)).toContain(refused.replayId);
    await test.work(first);
    // Dry runs do not stop a real one from starting.
    await asked();
    await test.work(counting[0]!);
    await ask({ dryRun: true }).expect(202);
  });
});

describe('A replay that does not end', () => {
  it('can be stopped, and another started', async () => {
    const first = await asked();
    const { body } = await test.api.request('delete', path(first), WS).expect(200);
    expect(body).toMatchObject({
      replayId: first.replayId,
      state: 'stopped',
      finishedAt: expect.any(String),
    });
    await test.work(first);
    expect(await count('delivery')).toBe(0);
    await test.work(await asked());
    expect(await count('delivery')).toBe(EVENTS);
  });

  it('ends by itself when no worker could continue it for a day', async () => {
    const first = await asked();
    await rescueAbandoned(test.database.pool, Date.now() + 23 * HOUR);
    expect((await test.find(first)).state).toBe('queued');
    await rescueAbandoned(test.database.pool, Date.now() + 25 * HOUR);
    expect((await test.find(first)).state).toBe('stopped');
    await asked();
  });
});

describe('Replays one after the other', () => {
  it('queue no event that is still pending for the endpoint', async () => {
    for (let n = 0; n < 4; n += 1) await test.work(await asked());
    expect(await count('delivery')).toBe(EVENTS);
    // The receiver had one of them and receives it again, once.
    await test.database.pool.query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at, created_at)
       select gen_random_uuid(), endpoint_id, workspace_id, event_id, reading_id, sequence, 'succeeded', now(), now()
       from webhooks.delivery limit 1`,
    );
    const again = await asked({ statuses: ['succeeded'] });
    await test.work(again);
    expect(await test.find(again)).toMatchObject({ state: 'finished', events: 0 });
    expect(await count('delivery')).toBe(EVENTS + 1);
  });
});

describe('When requested repeatedly', () => {
  const redeliver = (deliveryId: string) =>
    test.api.request('post', `/webhooks/${endpointId}/deliveries/${deliveryId}/redeliver`, WS).expect(202);
  const someDelivery = async (): Promise<string> => {
    await test.api.happen(WS, reading(randomUUID()).completed());
    const { rows } = await test.database.pool.query<{ delivery_id: string }>(
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
    await test.database.pool.query(`update webhooks.delivery set status = 'succeeded', settled_at = now()`);
    expect(ids).not.toContain(((await redeliver(deliveryId)).body as { deliveryId: string }).deliveryId);
  });

  it('a redelivery to a disabled endpoint is skipped once', async () => {
    const deliveryId = await someDelivery();
    await test.enable(endpointId, false);
    for (let n = 0; n < 3; n += 1)
      expect((await redeliver(deliveryId)).body).toMatchObject({ status: 'skipped', redelivery: true });
    expect(await count('delivery where redelivery')).toBe(1);
  });
});
