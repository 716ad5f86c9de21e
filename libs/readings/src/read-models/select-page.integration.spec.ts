import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { SHOWN_COLUMNS } from '../projections.js';
import { selectPage, type ListFilters } from './reading.query.js';

const READINGS = 20_000;
const PAGE = 51;
const NONE: ListFilters = { status: null, externalId: null, createdSince: null, createdUntil: null };
/** A list reads at most so many rows at one step of its plan. */
const MOST = 4 * PAGE;

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 1, applicationName: 'lists', onError: () => undefined });
  // One a minute: few are test readings, few are unfinished, none of the live ones has failed.
  await pool.query(
    `insert into readings.reading (reading_id, workspace_id, livemode, status, product_id, profile_id, locale,
       sealed_input, created_at, updated_at, due_at, correlation_id)
     select gen_random_uuid(), 'ws_1', n % 100 <> 0, case when n % 997 = 0 then 'queued' else 'completed' end, 'theme',
       'evan', 'en-US', repeat('x', 400), now() - make_interval(mins => n), now(), null, 'req_1'
     from generate_series(1, $1) as n`,
    [READINGS],
  );
  await pool.query('analyze readings.reading');
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const steps = (plan: Plan): readonly number[] => [
  plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0),
  ...(plan.Plans ?? []).flatMap(steps),
];

it.each<[string, boolean | null, Partial<ListFilters>]>([
  ['nothing', true, {}],
  ['nothing, in both modes', null, {}],
  ['test readings', false, {}],
  ['failed ones, which are rare', true, { status: 'failed' }],
  ['failed test readings', false, { status: 'failed' }],
  ['unfinished ones', true, { status: 'queued' }],
  ['completed ones', true, { status: 'completed' }],
  ['an age', true, { createdUntil: new Date(Date.now() - 10_000 * 60_000).toISOString() }],
])('a page filtered by %s reads few rows, however many readings there are', async (_, livemode, given) => {
  const filters = { ...NONE, ...given };
  const { text, values } = selectPage(SHOWN_COLUMNS, 'ws_1', livemode, filters, null, PAGE, null);
  const { rows } = await pool.query<{ 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
    `explain (analyze, format json) ${text}`,
    values,
  );
  expect(Math.max(...steps(rows[0]!['QUERY PLAN'][0].Plan))).toBeLessThanOrEqual(MOST);
});
