import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { ClockUntrusted } from '@app/event-sourcing/core/trusted-clock.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { eventually } from '../../../test/receiver.js';
import { wipe } from '../../../test/service.js';
import { forgetDeliveries } from './delivery-retention.js';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const MANY = 5_001;
const log = pino({ level: 'silent' });

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
/** One round, as a worker makes it. */
const round = async (now: () => number, until: () => Promise<boolean>): Promise<void> => {
  const stopping = new AbortController();
  const clock = { now: async () => now() };
  const running = forgetDeliveries(database.pool, clock, { WEBHOOK_DELIVERIES_KEPT_DAYS: 30 }, log).run(
    stopping.signal,
  );
  await eventually(until);
  stopping.abort();
  await running;
};

it('Deliveries are deleted by whole weeks once the last day of the week is old enough', async () => {
  // 30 days before NOW is Saturday, 2 May: the week from 27 April to 3 May stays whole.
  await settled('2026-04-26T23:59:59Z');
  await settled('2026-04-27T00:00:00Z');
  await settled('2026-05-20T00:00:00Z');
  await round(
    () => NOW,
    async () => (await days()).length === 2,
  );
  expect(await days()).toEqual(['04-27', '05-20']);
  await round(
    () => NOW + 2 * 86_400_000,
    async () => (await days()).length === 1,
  );
});

it('Deliveries of weeks without a partition are deleted in steps', async () => {
  await settled('2024-01-01T00:00:00Z', MANY);
  await settled('2026-05-20T00:00:00Z');
  await round(
    () => NOW,
    async () => (await days()).length === 1,
  );
  expect(await days()).toEqual(['05-20']);
});

it('Nothing is deleted while the clocks cannot be trusted', async () => {
  await settled('2024-01-01T00:00:00Z');
  let asked = 0;
  await round(
    () => {
      asked += 1;
      throw new ClockUntrusted('the clocks differ');
    },
    async () => asked > 0,
  );
  expect(await days()).toEqual(['01-01']);
});
