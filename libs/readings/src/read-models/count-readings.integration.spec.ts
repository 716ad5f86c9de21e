import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { CountReadings } from '../contracts/queries.js';
import { CountReadingsHandler } from './reading.query.js';

const WORKSPACE = 'ws_0123456789abcdefghijKL';
const SINCE = '2026-04-01T00:00:00.000Z';

let database: StartedPostgres;
let pool: pg.Pool;
let now = 0;

beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.databaseUrl });
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

const add = (count: number, createdAt: string, livemode = true, workspaceId = WORKSPACE) =>
  pool.query(
    `insert into readings.reading (reading_id, workspace_id, status, product_id, profile_id, locale, sealed_input,
       created_at, updated_at, correlation_id, livemode)
     select gen_random_uuid(), $1, 'completed', 'theme', 'evan', 'fr-FR', '', $2, $2, '', $3 from generate_series(1, $4)`,
    [workspaceId, createdAt, livemode, count],
  );

it('counts the readings of a workspace and mode by day (UTC); many once in half a minute, few each time', async () => {
  await add(2, '2026-04-01T00:00:00.000Z');
  await add(1, '2026-04-02T23:59:59.999Z');
  await add(1, '2026-03-31T23:59:59.999Z');
  await add(3, '2026-04-02T12:00:00.000Z', false);
  await add(1, '2026-04-02T12:00:00.000Z', true, 'ws_other');
  const handler = new CountReadingsHandler(pool, { now: () => now });
  const count = (livemode = true) => handler.execute(new CountReadings(WORKSPACE, livemode, SINCE));
  const counted = [
    { day: '2026-04-01', readings: 2 },
    { day: '2026-04-02', readings: 1 },
  ];
  expect(await count()).toEqual(counted);
  expect(await count(false)).toEqual([{ day: '2026-04-02', readings: 3 }]);

  await add(6_000, '2026-04-03T12:00:00.000Z');
  const many = [...counted, { day: '2026-04-03', readings: 6_000 }];
  expect(await count()).toEqual(many);
  await add(1, '2026-04-04T12:00:00.000Z');
  now += 29_999;
  expect(await count()).toEqual(many);
  now += 1;
  expect(await count()).toEqual([...many, { day: '2026-04-04', readings: 1 }]);
});
