import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { AGREEING, DIFFERING } from '#platform/time/testing/clocks-under-test.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import { checkPublications } from './publications.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'spec', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const due = async (version: number, age: string | null): Promise<string> => {
  const readingId = randomUUID();
  const table = version === 1 ? 'publication' : 'republication';
  await pool.query(
    `insert into publishing.${table} (reading_id, version, workspace_id, due_at, correlation_id${version === 1 ? ', artifact_id' : ''})
     values ($1, $2, 'ws_1', now() - $3::interval, 'req_1'${version === 1 ? `, ''` : ''})`,
    [readingId, version, age],
  );
  return readingId;
};

it('Doctor finds completed readings whose documents are not made, and names the one that waits longest', async () => {
  await due(1, null);
  await due(1, '9 minutes');
  expect(await checkPublications(pool, AGREEING)).toMatchObject([{ level: 'ok' }]);
  await due(1, '11 minutes');
  const longest = await due(2, '1 hour');
  expect(await checkPublications(pool, AGREEING)).toMatchObject([
    {
      level: 'failure',
      message: `2 documents are more than 10 minutes late, such as that of reading ${longest}`,
      advice: expect.stringContaining('cannot be made'),
    },
  ]);
  expect(await checkPublications(pool, DIFFERING)).toMatchObject([{ level: 'ok' }]);
});

it('Doctor finds a document that was given up, unless its reading was erased', async () => {
  await pool.query('truncate publishing.publication, publishing.republication');
  const [, givenUp] = [await due(1, null), await due(1, null)];
  await pool.query(
    `insert into platform.subject_key (subject_id, workspace_id, wrapped_key) values ($1, 'ws_1', '')`,
    [givenUp],
  );
  expect(await checkPublications(pool, AGREEING)).toMatchObject([
    { level: 'ok' },
    {
      level: 'warning',
      message: `1 documents were given up, such as that of reading ${givenUp}: each ended three workers`,
      advice: expect.stringContaining('ops readings unreadable'),
    },
  ]);
});
