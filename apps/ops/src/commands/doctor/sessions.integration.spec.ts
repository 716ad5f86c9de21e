import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import { checkSessions } from './sessions.js';

let postgres: StartedPostgres;
beforeAll(async () => {
  postgres = await freshDatabase();
});
afterAll(() => postgres.stop());

it('Doctor finds that connections keep their sessions, and leaves none behind', async () => {
  const pool = openPool(postgres.databaseUrl, {
    size: 2,
    applicationName: 'doctor',
    onError: () => undefined,
  });
  expect(await checkSessions(pool)).toMatchObject({ level: 'ok' });
  expect(pool.idleCount).toBe(2);
  await pool.end();
});

/** Connections whose statements reach these sessions, in turn. */
const pooled = (...sessions: readonly number[]): Pick<Pool, 'connect'> => {
  const left = [...sessions];
  const query = async (text: string) => ({
    rows: text.includes('pg_backend_pid') ? [{ pid: left.shift() }] : [],
  });
  return { connect: async () => ({ query, release: () => undefined }) } as never;
};

it.each([
  ['the idle connection gives its session to the busy one', [1, 1, 2]],
  ['the idle connection gets another session', [1, 2, 3]],
])('Doctor fails when a pooler changes sessions: %s', async (_, sessions) => {
  expect(await checkSessions(pooled(...sessions))).toMatchObject({
    level: 'failure',
    advice: expect.stringContaining('pool_mode=session'),
  });
});
