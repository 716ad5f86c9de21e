import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { wipe } from '../../../test/service.js';
import { whenLocked } from '../retention.js';

const NEVER = new AbortController().signal;

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
beforeEach(() => wipe(database));

const settle = (...instants: readonly string[]): Promise<unknown> =>
  database.pool.query(
    `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                            settled_at)
     select gen_random_uuid(), 'we_a', 'evt_1', 'succeeded', 0, false, false, at, at from unnest($1::timestamptz[]) at`,
    [instants],
  );
/** How many deliveries each partition holds. */
const held = async (): Promise<Record<string, number>> => {
  const { rows } = await database.pool.query<{ name: string; count: number }>(
    `select replace(tableoid::regclass::text, 'webhooks.settled_delivery_', '') as name, count(*)::integer
     from webhooks.settled_delivery group by 1`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
};
const add = (since: string, until: string) =>
  database.pool.query('select webhooks.add_partitions($1, $2)', [since, until]);
const drop = async (endedBefore: string): Promise<string | null> => {
  const { rows } = await database.pool.query<{ name: string | null }>(
    'select webhooks.drop_partition($1) as name',
    [endedBefore],
  );
  return rows[0]!.name;
};

describe('The partitions of settled deliveries', () => {
  it('exist for this week and the next four', async () => {
    const { rows } = await database.pool.query(
      `select inhrelid::regclass::text from pg_inherits where inhparent = 'webhooks.settled_delivery'::regclass`,
    );
    expect(rows).toHaveLength(6);
  });

  it('are weeks from Monday to Sunday in UTC, whatever the session says; the net takes the rest', async () => {
    const client = await database.pool.connect();
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

  it('are dropped whole, the oldest first, once their week has ended before the given instant', async () => {
    await add('2020-01-06T00:00:00Z', '2020-01-13T00:00:00Z');
    await settle('2020-01-07T00:00:00Z', '2020-01-14T00:00:00Z');
    expect(await drop('2020-01-12T23:59:59Z')).toBeNull();
    expect(await drop('2020-01-13T00:00:00Z')).toBe('settled_delivery_2020w02');
    expect(await drop('2020-01-13T00:00:00Z')).toBeNull();
    expect(await held()).toEqual({ '2020w03': 1 });
    expect(await drop('2020-02-01T00:00:00Z')).toBe('settled_delivery_2020w03');
  });

  it('are made and dropped once by processes that do so together', async () => {
    const all = (change: () => Promise<unknown>) =>
      Promise.all(Array.from({ length: 4 }, () => whenLocked(NEVER, change, 10)));
    await all(() => add('2021-01-04T00:00:00Z', '2021-02-01T00:00:00Z'));
    await settle('2021-01-04T00:00:00Z', '2021-02-01T00:00:00Z');
    expect(await held()).toEqual({ '2021w01': 1, '2021w05': 1 });
    const dropped = await all(() => drop('2021-01-18T00:00:00Z'));
    expect(dropped.filter((name) => name !== null).toSorted()).toEqual([
      'settled_delivery_2021w01',
      'settled_delivery_2021w02',
    ]);
  });

  it('wait only briefly for a reader, and are changed when it has finished', async () => {
    const reader = await database.pool.connect();
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
