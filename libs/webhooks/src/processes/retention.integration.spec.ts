import { randomUUID } from 'node:crypto';
import { describe, expect, it, beforeEach } from '@jest/globals';
import { DAY_MS, retentionStatus, runRetention } from '#platform/retention/retention.js';
import { fanningOut } from '../../test/fanning-out.js';
import { batchEnded, endpoint, failure, reading, testReading } from '../../test/events.js';
import { webhookRetentions, deliveryRetention, whenLocked } from './retention.js';

const test = fanningOut();

/** When the events of the helpers happen. */
const HAPPENED = Date.parse('2026-04-04T09:30:00Z');
const NEVER = new AbortController().signal;
const TERMS = {
  WEBHOOK_DELIVERIES_KEPT_DAYS: 90,
  WEBHOOK_EVENTS_KEPT_DAYS: 400,
  TEST_DATA_KEPT_DAYS: 30,
};
const AFTER = (days: number) => HAPPENED + days * DAY_MS + 1;

const subscriber = () =>
  endpoint(`we_${randomUUID()}`).created({ modes: ['live', 'test'], notices: ['batch.ended'] });
const round = async (now: number): Promise<Readonly<Record<string, number>>> => {
  const runs = [];
  for (const one of webhookRetentions(test.database.pool, TERMS))
    runs.push(await runRetention(test.database.pool, one, now, NEVER));
  return Object.fromEntries(runs.flatMap((run) => (run && run.removed > 0 ? [[run.kind, run.removed]] : [])));
};
const kept = async (): Promise<readonly string[]> =>
  (await test.rows<{ type: string }>('select type from webhooks.public_event order by type')).map(
    ({ type }) => type,
  );

describe('Retention', () => {
  it('deletes events, test events and notices when their own terms end, with their deliveries', async () => {
    await test.handle(
      subscriber(),
      reading(randomUUID()).completed(),
      testReading(randomUUID()).completed(),
      batchEnded(randomUUID()),
      batchEnded(randomUUID(), { livemode: false }),
    );
    expect((await test.deliveries()).length).toBe(4);
    expect(await round(AFTER(30) - 1)).toEqual({});
    expect(await round(AFTER(30))).toEqual({ 'test-events': 1, 'test-notices': 1 });
    expect(await kept()).toEqual(['batch.ended', 'reading.completed']);
    expect(await round(AFTER(400) - 1)).toEqual({});
    expect(await round(AFTER(400))).toEqual({ events: 1, notices: 1 });
    expect(await kept()).toEqual([]);
    expect(await test.deliveries()).toEqual([]);
    for (const table of ['delivery', 'settled_delivery', 'notice'])
      expect(await test.rows(`select from webhooks.${table}`)).toEqual([]);
  });

  it('deletes more than one step holds, also from several processes at once', async () => {
    const many = Array.from({ length: 1_100 }, () => reading(randomUUID()).completed());
    await test.handle(...many, reading(randomUUID()).completed({ at: HAPPENED + DAY_MS }));
    const rounds = await Promise.all([round(AFTER(400)), round(AFTER(400)), round(AFTER(400))]);
    expect(rounds.reduce((sum, one) => sum + (one['events'] ?? 0), 0)).toBe(1_100);
    expect(await kept()).toEqual(['reading.completed']);
  });
});

describe('What retention has deleted', () => {
  it('is not made again when its events are handled again, and not sent', async () => {
    const [completed, batch] = [reading(randomUUID()).completed(), batchEnded(randomUUID())];
    const failed = failure(randomUUID(), HAPPENED);
    await test.handle(subscriber(), completed, batch, ...failed);
    await round(AFTER(400));
    expect(await kept()).toEqual([]);
    await test.handle(completed, batch, ...failed);
    expect(await kept()).toEqual([]);
    expect(await test.deliveries()).toEqual([]);
    expect(await test.rows('select from webhooks.unreleased_failure')).toEqual([]);
    expect(await test.rows('select from webhooks.notice')).toEqual([]);
  });

  it('is counted in the numbers of its reading', async () => {
    const one = reading(randomUUID());
    await test.handle(one.completed(), one.published());
    await round(AFTER(400));
    await test.handle(subscriber(), { ...one.published({ at: AFTER(400) }), id: randomUUID(), revision: 2n });
    expect(await test.deliveries()).toMatchObject([{ type: 'reading.published', sequence: 3 }]);
  });

  it('stays before later events in the feed, although those are of an earlier position', async () => {
    const late = reading(randomUUID()).completed({ at: AFTER(10) });
    await test.handle(reading(randomUUID()).completed());
    const [last] = await test.rows<{ position: string }>('select position from webhooks.public_event');
    await round(AFTER(400));
    await test.handle(late);
    const [added] = await test.rows<{ position: string }>('select position from webhooks.public_event');
    expect(BigInt(added!.position)).toBeGreaterThan(BigInt(last!.position));
  });
});

describe('Settled deliveries', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z');
  const MANY = 5_001;
  beforeEach(() =>
    test.database.pool.query(
      `select webhooks.add_partitions('2026-04-06T00:00:00Z', '2026-05-25T00:00:00Z')`,
    ),
  );

  const settled = (at: string, count = 1) =>
    test.database.pool.query(
      `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                            settled_at)
     select gen_random_uuid(), 'we_a', 'evt_1', 'succeeded', 0, false, false, $1, $1 from generate_series(1, $2::integer)`,
      [at, count],
    );
  const days = async (): Promise<string[]> => {
    const { rows } = await test.database.pool.query<{ day: string }>(
      `select distinct to_char(settled_at at time zone 'UTC', 'MM-DD') as day from webhooks.settled_delivery order by 1`,
    );
    return rows.map(({ day }) => day);
  };
  const retention = () => deliveryRetention(test.database.pool, { WEBHOOK_DELIVERIES_KEPT_DAYS: 30 });
  const round = (now: number) => runRetention(test.database.pool, retention(), now, NEVER);
  const status = (now: number) => retentionStatus(test.database.pool, retention(), now);

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
});

describe('Partitions', () => {
  const settle = (...instants: readonly string[]): Promise<unknown> =>
    test.database.pool.query(
      `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                            settled_at)
     select gen_random_uuid(), 'we_a', 'evt_1', 'succeeded', 0, false, false, at, at from unnest($1::timestamptz[]) at`,
      [instants],
    );
  /** How many deliveries each partition holds. */
  const held = async (): Promise<Record<string, number>> => {
    const { rows } = await test.database.pool.query<{ name: string; count: number }>(
      `select replace(tableoid::regclass::text, 'webhooks.settled_delivery_', '') as name, count(*)::integer
     from webhooks.settled_delivery group by 1`,
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  };
  const add = (since: string, until: string) =>
    test.database.pool.query('select webhooks.add_partitions($1, $2)', [since, until]);

  describe('The partitions of settled deliveries', () => {
    it('are weeks from Monday to Sunday in UTC, whatever the session says; the net takes the rest', async () => {
      const client = await test.database.pool.connect();
      await client.query(`set timezone = 'Pacific/Auckland'`);
      await client.query(`select webhooks.add_partitions('2031-01-01T00:00:00Z', '2031-01-08T00:00:00Z')`);
      client.release(true);
      await settle('2030-12-29T23:59:59.999Z', '2030-12-30T00:00:00Z', '2031-01-05T23:59:59.999Z');
      await settle('2031-01-06T00:00:00Z', '2031-01-13T00:00:00Z');
      expect(await held()).toEqual({ other: 2, '2031w01': 2, '2031w02': 1 });
    });

    it('take what the net held, and adding them again changes nothing', async () => {
      await settle('2032-03-03T12:00:00Z', '2032-03-10T12:00:00Z');
      expect(await held()).toEqual({ other: 2 });
      await add('2032-03-03T00:00:00Z', '2032-03-03T00:00:00Z');
      await add('2032-03-03T00:00:00Z', '2032-03-03T00:00:00Z');
      expect(await held()).toEqual({ other: 1, '2032w10': 1 });
    });

    it('wait only briefly for a reader, and are changed when it has finished', async () => {
      const reader = await test.database.pool.connect();
      try {
        await reader.query('begin');
        await reader.query('select count(*) from webhooks.settled_delivery');
        await expect(add('2033-01-05T00:00:00Z', '2033-01-05T00:00:00Z')).rejects.toMatchObject({
          code: '55P03',
        });
        let tries = 0;
        await whenLocked(
          NEVER,
          async () => {
            tries += 1;
            if (tries === 2) await reader.query('commit');
            await add('2033-01-05T00:00:00Z', '2033-01-05T00:00:00Z');
          },
          0,
        );
        expect(tries).toBe(2);
      } finally {
        reader.release(true);
      }
    });
  });
});
