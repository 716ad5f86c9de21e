import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import { z } from 'zod';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { openPool } from '../postgres/pool.js';
import { addJob, jobKind, removeJob } from './job.js';
import { forgetReplacedJobs, stuckJobs } from './stuck-jobs.js';

const GREET = jobKind('greet', z.object({}));

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.applicationUrl, { size: 2, applicationName: 'spec', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});
beforeEach(() => pool.query('delete from graphile_worker._private_jobs'));

const add = async (key: string): Promise<void> => {
  const { text, values } = addJob(GREET, {}, { key });
  await pool.query(text, values as unknown[]);
};
const change = (key: string, state: string) =>
  pool.query(`update graphile_worker._private_jobs set ${state} where key = $1`, [key]);
const keys = async () =>
  (await pool.query<{ key: string | null }>('select key from graphile_worker.jobs order by id')).rows.map(
    ({ key }) => key,
  );

it('a job whose worker was killed is not stuck once another has replaced it, and is deleted later', async () => {
  for (const key of ['again', 'removed', 'spent']) await add(key);
  for (const key of ['again', 'removed'])
    await change(key, `attempts = 1, locked_at = now(), locked_by = 'killed'`);
  await change('spent', 'attempts = max_attempts');
  await add('again');
  const { text, values } = removeJob('removed');
  await pool.query(text, values as unknown[]);
  expect(await stuckJobs(pool)).toMatchObject({ dead: 1, failing: 0 });

  expect(await forgetReplacedJobs(pool)).toBe(0);
  await pool.query(`update graphile_worker._private_jobs set locked_at = now() - interval '2 hours'
                    where locked_by = 'killed'`);
  expect(await forgetReplacedJobs(pool)).toBe(2);
  expect(await keys()).toEqual(['spent', 'again']);
});

it('the age of a job that nobody takes shows from the first second on', async () => {
  for (const key of ['waiting', 'turn', 'taken', 'timer']) await add(key);
  await change('waiting', `run_at = now() - interval '61 seconds', created_at = run_at - interval '1 day'`);
  // The turn of a job may be before the job was added.
  await change('turn', `run_at = now() - interval '1 day'`);
  await change('taken', `run_at = now() - interval '1 hour', locked_at = now()`);
  await change('timer', `run_at = now() + interval '1 hour'`);
  const { oldest } = await stuckJobs(pool);
  expect(oldest).toBeGreaterThanOrEqual(61);
  expect(oldest).toBeLessThan(3_600);
});
