import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually } from '../../../test/receiver.js';
import { TestService } from '../../../test/service.js';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { ALL_DELIVERIES } from '../../read-models/delivery/settled-sql.js';
import { moveAll } from './move-settled.js';

/** More than one step looks at. */
const MANY = 1_200;
const NEVER = new AbortController().signal;
const ALL = {
  statuses: null,
  types: null,
  readingId: null,
  since: null,
  until: null,
  undelivered: false,
  modes: ['live', 'test'],
} as const;

const test = dispatching();
const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  (await test.database.pool.query<Row>(text, [...values])).rows;

/** As the previous version records an attempt: the delivery stays where it is. */
const settleInPlace = async (where: string, status: string, error: string | null): Promise<void> => {
  await query(
    `with settled as (
       update webhooks.delivery set status = $1, attempts = attempts + 1, lease = null, settled_at = now()
       where ${where} returning delivery_id, endpoint_id, attempts)
     insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, endpoint_id)
     select delivery_id, attempts, now(), 7, case when $2::text is null then 204 else 500 end, $2, endpoint_id from settled`,
    [status, error],
  );
};
const inQueue = () => query<{ status: string }>('select status from webhooks.delivery order by 1');

/** An endpoint with deliveries that nobody sends. @returns its id */
const queued = async (count: number): Promise<string> => {
  test.service = new TestService(test.database);
  test.service.follow();
  const { endpointId } = await test.service.create(test.receiver.url);
  await test.service.happen(...Array.from({ length: count }, () => reading(randomUUID()).completed()));
  await eventually(async () => (await test.service.deliveries()).length === count);
  return endpointId;
};
const shown = async (endpointId: string): Promise<unknown> => {
  const rows = new DeliveryRows(test.database.pool);
  const page = await rows.page(endpointId, 100, null, ALL);
  const single = await Promise.all(page.map(({ deliveryId }) => rows.find(endpointId, deliveryId)));
  const attempts = await Promise.all(page.map(({ deliveryId }) => rows.attempts(deliveryId)));
  return { page, single, attempts };
};

describe('What the previous version has settled', () => {
  it('looks the same before and after it is moved out of the queue', async () => {
    const endpointId = await queued(4);
    const [failed, skipped] = await query<{ delivery_id: string }>(
      'select delivery_id from webhooks.delivery',
    );
    const isFailed = `delivery_id = '${failed!.delivery_id}'`;
    await settleInPlace(isFailed, 'pending', 'http_error');
    await settleInPlace(isFailed, 'exhausted', 'timeout');
    await query(
      `update webhooks.delivery set status = 'skipped', settled_at = now() where delivery_id = $1`,
      [skipped!.delivery_id],
    );
    await settleInPlace(
      `delivery_id = (select delivery_id from webhooks.delivery where status = 'pending' limit 1)`,
      'succeeded',
      null,
    );
    const before = await shown(endpointId);
    expect(await moveAll(test.database.pool, NEVER, 0)).toBe(3);
    expect(await inQueue()).toEqual([{ status: 'pending' }]);
    expect(await query('select from webhooks.attempt')).toEqual([]);
    expect(await shown(endpointId)).toEqual(before);
    expect(before).toMatchObject({ page: { length: 4 }, single: { length: 4 } });
  });

  it('is moved step by step, and nothing is lost or doubled when two processes move at once', async () => {
    await queued(1);
    await query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                      created_at, settled_at)
       select gen_random_uuid(), endpoint_id, workspace_id, event_id, gen_random_uuid(), 1,
              case n % 2 when 0 then 'pending' else 'succeeded' end, now(), now(), now()
       from webhooks.delivery cross join generate_series(1, 2 * ${MANY}) n`,
    );
    const { pool } = test.database;
    const moved = await Promise.all([moveAll(pool, NEVER, 0), moveAll(pool, NEVER, 0)]);
    expect(moved[0] + moved[1]).toBe(MANY);
    expect(new Set((await inQueue()).map(({ status }) => status))).toEqual(new Set(['pending']));
    expect(await query(`select from ${ALL_DELIVERIES}`)).toHaveLength(2 * MANY + 1);
  });

  it('is neither lost nor doubled when moving processes are killed', async () => {
    await queued(1);
    await query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                      attempts, due_at, created_at, settled_at)
       select gen_random_uuid(), endpoint_id, workspace_id, event_id, gen_random_uuid(), 1, 'succeeded', 1, now(), now(), now()
       from webhooks.delivery cross join generate_series(1, 4 * ${MANY}) n`,
    );
    await query(
      `insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, endpoint_id)
       select delivery_id, 1, now(), 7, 204, endpoint_id from webhooks.delivery where status = 'succeeded'`,
    );
    let kills = 0;
    for (let moved = 0; moved < 4 * MANY;) {
      const mover = new pg.Pool({ connectionString: test.database.url, max: 1, application_name: 'killed' });
      mover.on('error', () => undefined);
      const moving = moveAll(mover, NEVER, 20).then(
        () => true,
        () => false,
      );
      // Whatever a killed process was doing, PostgreSQL ends its session.
      const hasBegun = async (): Promise<boolean> =>
        (await query(`select from webhooks.settled_delivery limit 1 offset ${moved}`)).length > 0;
      if (kills < 3) await eventually(hasBegun);
      const ended = await query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed' and ${kills} < 3`,
      );
      kills += Math.sign(ended.length);
      await moving;
      await mover.end();
      moved = (await query('select from webhooks.settled_delivery')).length;
    }
    expect(kills).toBeGreaterThan(0);
    const settled = await query<{ delivery_id: string; attempts: number; duration_ms: number }>(
      'select distinct delivery_id, attempts, duration_ms from webhooks.settled_delivery',
    );
    expect(settled).toHaveLength(4 * MANY);
    expect(settled.every((one) => one.attempts === 1 && one.duration_ms === 7)).toBe(true);
    expect(await inQueue()).toEqual([{ status: 'pending' }]);
    expect(await query('select from webhooks.attempt')).toEqual([]);
  });

  it('stays while the attempt at a skipped delivery is under way', async () => {
    await queued(1);
    const until = async (due: string): Promise<number> => {
      await query(
        `update webhooks.delivery set status = 'skipped', settled_at = now(), lease = gen_random_uuid(),
                due_at = now() + $1::interval`,
        [due],
      );
      return moveAll(test.database.pool, NEVER, 0);
    };
    expect(await until('1 hour')).toBe(0);
    expect(await until('-1 second')).toBe(1);
  });
});

describe('Beside a worker of the previous version', () => {
  it('the order of a reading holds, whichever of the two sends a delivery', async () => {
    const id = randomUUID();
    test.service = new TestService(test.database);
    test.service.follow();
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(id).delayed(), reading(id).completed(), reading(id).published());
    await eventually(async () => (await test.service.deliveries()).length === 3);
    // The other one has claimed the workspace, and settles the first delivery where it is.
    await query(
      `update webhooks.lane set lease = gen_random_uuid(), leased_until = now() + interval '1 hour'`,
    );
    test.service.dispatch();
    await settleInPlace('sequence = 1', 'succeeded', null);
    await test.service.idle();
    expect(test.receiver.received).toEqual([]);
    await query(`update webhooks.lane set lease = null, leased_until = '-infinity', ready_at = now()`);
    await eventually(() => test.receiver.received.length === 2);
    expect(test.receiver.received.map(({ headers }) => headers['x-service-event'])).toEqual([
      'reading.completed',
      'reading.published',
    ]);
    await eventually(async () => (await inQueue()).length === 1);
    expect(await moveAll(test.database.pool, NEVER, 0)).toBe(1);
    const page = await new DeliveryRows(test.database.pool).page(endpointId, 10, null, ALL);
    expect(page.map(({ status, attempts }) => [status, attempts])).toEqual(Array(3).fill(['succeeded', 1]));
  });
});
