import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { FindWebhookEndpoint } from '../../contracts/endpoints.js';
import { EndpointRows, FindWebhookEndpointHandler, QueueHealth } from '../endpoints.js';

const BUSY = 'we_busy';
const SETTLED = 200_000;
const WEEKS = 8;
/** Pages of 8 KiB that a look may read. */
const MOST_PAGES = 50;
const clock = { now: () => Date.parse('2026-04-04T12:30:00Z') };
const ONE_ENDPOINT = { endpointId: BUSY, workspaceId: null };

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

let database: TestDatabase;
const query = (text: string, values: unknown[]) => database.pool.query(text, values);

beforeAll(async () => {
  database = await startDatabase();
  const now = new Date(clock.now());
  await query(
    `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, enabled, secrets, revision, created_at, updated_at)
     values ($1, 'ws_1', 'https://receiver.example/', '{}', true, '[]', 0, now(), now())`,
    [BUSY],
  );
  await query(`select webhooks.add_partitions($1::timestamptz - make_interval(weeks => $2), $1)`, [
    now,
    WEEKS,
  ]);
  await query(
    `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                            created_at, settled_at)
     select gen_random_uuid(), $1, 'evt_' || n, 'skipped', 0, false, false, at, at
     from generate_series(1, $3::integer) n
     cross join lateral (select $2::timestamptz - n * make_interval(weeks => $4) / $3 as at) made`,
    [BUSY, now, SETTLED, WEEKS],
  );
  await database.pool.query('vacuum analyze webhooks.settled_delivery');
});
afterAll(() => database.stop());

/** A pool that counts the pages of its queries. */
const counting = (pages: number[]): pg.Pool =>
  ({
    query: async (text: string, values: unknown[]) => {
      const { rows } = await query(`explain (analyze, buffers, format json) ${text}`, values);
      const [{ Plan }] = (rows[0] as { 'QUERY PLAN': readonly [{ readonly Plan: Plan }] })['QUERY PLAN'];
      pages.push(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']);
      return query(text, values);
    },
  }) as unknown as pg.Pool;

describe('Among many deliveries that were skipped', () => {
  it.each<[string, (pool: pg.Pool) => Promise<unknown>]>([
    ['The health of one endpoint', (pool) => new QueueHealth(pool, clock).of(BUSY)],
    ['Its line among all endpoints', (pool) => new QueueHealth(pool, clock).list(ONE_ENDPOINT)],
    [
      'An endpoint alone',
      (pool) => new FindWebhookEndpointHandler(new EndpointRows(pool)).execute(new FindWebhookEndpoint(BUSY)),
    ],
  ])('%s reads few pages', async (_, look) => {
    const pages: number[] = [];
    expect(await look(counting(pages))).not.toBeNull();
    expect(pages).toEqual([expect.any(Number)]);
    expect(pages[0]).toBeLessThanOrEqual(MOST_PAGES);
  });
});

describe('The last success', () => {
  const lastSuccess = async (): Promise<string | null> => {
    const health = new QueueHealth(database.pool, clock);
    const [listed] = await health.list(ONE_ENDPOINT);
    const { lastSuccessAt } = await health.of(BUSY);
    expect(listed!.lastSuccessAt).toBe(lastSuccessAt);
    return lastSuccessAt;
  };
  const sum = (hour: string, outcome: string, lastAt: string | null) =>
    query(
      `insert into webhooks.endpoint_hour (endpoint_id, hour, outcome, attempts, latencies, last_at)
       values ($1, $2, $3, 1, '{}', $4)`,
      [BUSY, hour, outcome, lastAt],
    );
  afterAll(() => query('delete from webhooks.endpoint_hour', []));

  it('is the last one of the newest hour with one', async () => {
    expect(await lastSuccess()).toBeNull();
    await sum('2026-03-20T07:00:00Z', 'succeeded', '2026-03-20T07:41:10.200Z');
    await sum('2026-03-19T07:00:00Z', 'succeeded', '2026-03-19T07:59:00Z');
    await sum('2026-04-04T12:00:00Z', 'timeout', '2026-04-04T12:01:00Z');
    expect(await lastSuccess()).toBe('2026-03-20T07:41:10.200Z');
  });
});

describe('The attempts of the last 24 hours', () => {
  it('are those of the hour that has begun and the 23 before it, of this endpoint', async () => {
    await query(
      `insert into webhooks.endpoint_hour (endpoint_id, hour, outcome, attempts, latencies, last_at)
       select endpoint_id, hour::timestamptz, outcome, attempts, '{}', hour::timestamptz
       from (values ($1, '2026-04-03T12:00:00Z', 'succeeded', 1000), ($1, '2026-04-03T13:00:00Z', 'timeout', 2),
                    ($1, '2026-04-03T13:00:00Z', 'succeeded', 30), ($1, '2026-04-04T12:00:00Z', 'succeeded', 4),
                    ('we_other', '2026-04-04T12:00:00Z', 'succeeded', 500)
            ) summed (endpoint_id, hour, outcome, attempts)`,
      [BUSY],
    );
    const attempts = { succeeded: 34, timeout: 2 };
    const health = new QueueHealth(database.pool, clock);
    expect(await health.of(BUSY)).toMatchObject({ attempts });
    expect(await health.list(ONE_ENDPOINT)).toMatchObject([{ attempts }]);
  });
});
