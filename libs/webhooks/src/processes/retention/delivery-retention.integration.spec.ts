import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DAY_MS, retentionStatus, runRetention } from '#platform/retention/retention.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { wipe } from '../../../test/service.js';
import { deliveryRetention } from '../retention.js';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const MANY = 5_001;
const NEVER = new AbortController().signal;

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
beforeEach(async () => {
  await wipe(database);
  await database.pool.query(`select webhooks.add_partitions('2026-04-06T00:00:00Z', '2026-05-25T00:00:00Z')`);
});

const settled = (at: string, count = 1) =>
  database.pool.query(
    `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                            settled_at)
     select gen_random_uuid(), 'we_a', 'evt_1', 'succeeded', 0, false, false, $1, $1 from generate_series(1, $2::integer)`,
    [at, count],
  );
const days = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ day: string }>(
    `select distinct to_char(settled_at at time zone 'UTC', 'MM-DD') as day from webhooks.settled_delivery order by 1`,
  );
  return rows.map(({ day }) => day);
};
const retention = () => deliveryRetention(database.pool, { WEBHOOK_DELIVERIES_KEPT_DAYS: 30 });
const round = (now: number) => runRetention(database.pool, retention(), now, NEVER);
const status = (now: number) => retentionStatus(database.pool, retention(), now);

it('Deliveries are deleted by whole weeks once the last day of the week is old enough', async () => {
  // 30 days before NOW is Saturday, 2 May: the week from 27 April to 3 May stays whole.
  await settled('2026-04-26T23:59:59Z');
  await settled('2026-04-27T00:00:00Z');
  await settled('2026-05-20T00:00:00Z');
  expect(await status(NOW)).toMatchObject({
    oldest: '2026-04-20T00:00:00.000Z',
    due: { partitions: 3, bytes: expect.any(Number) },
    lagDays: 5,
  });
  expect(await round(NOW)).toMatchObject({ keptSince: '2026-04-27T00:00:00.000Z' });
  expect(await days()).toEqual(['04-27', '05-20']);
  expect(await status(NOW)).toMatchObject({
    oldest: '2026-04-27T00:00:00.000Z',
    due: { partitions: 0, rows: 0, bytes: 0 },
    lagDays: 0,
    lastRun: { at: '2026-06-01T00:00:00.000Z', keptSince: '2026-04-27T00:00:00.000Z' },
    nextRun: '2026-06-01T00:10:00.000Z',
  });
  await round(NOW + 2 * DAY_MS);
  expect(await days()).toEqual(['05-20']);
});

it('Deliveries of weeks without a partition are deleted in steps', async () => {
  await settled('2024-01-01T00:00:00Z', MANY);
  await settled('2026-05-20T00:00:00Z');
  expect(await status(NOW)).toMatchObject({ oldest: '2024-01-01T00:00:00.000Z', due: { rows: MANY } });
  expect(await round(NOW)).toMatchObject({ removed: MANY });
  expect(await days()).toEqual(['05-20']);
});

it('Attempts that no delivery has are deleted when they are old enough', async () => {
  const attempted = (deliveryId: string, at: string) =>
    database.pool.query(
      `insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, error, endpoint_id)
       values ($1, 1, $2, 1, 'timeout', 'we_a')`,
      [deliveryId, at],
    );
  const { rows } = await database.pool.query<{ delivery_id: string }>(
    `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                    created_at)
     values (gen_random_uuid(), 'we_a', 'ws_1', 'evt_1', gen_random_uuid(), 1, 'pending', now(), now())
     returning delivery_id`,
  );
  const pending = rows[0]!.delivery_id;
  await attempted(pending, '2026-03-01T00:00:00Z');
  await attempted(randomUUID(), '2026-05-01T00:00:00Z');
  const recent = randomUUID();
  await attempted(recent, '2026-05-20T00:00:00Z');
  expect(await round(NOW)).toMatchObject({ removed: 1 });
  const kept = await database.pool.query<{ delivery_id: string }>('select delivery_id from webhooks.attempt');
  expect(kept.rows.map(({ delivery_id: id }) => id).toSorted()).toEqual([pending, recent].toSorted());
});

it('Rounds at the same time delete each week once', async () => {
  await settled('2026-04-08T00:00:00Z');
  await settled('2024-01-01T00:00:00Z', MANY);
  await Promise.all([round(NOW), round(NOW), round(NOW)]);
  expect(await days()).toEqual([]);
  expect(await status(NOW)).toMatchObject({ lastRun: { removedInAll: MANY } });
});
