import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { addJob } from '@app/platform/jobs/job.js';
import { openPool } from '@app/platform/postgres/pool.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import {
  PUBLISH_DOCUMENT,
  publishJobAgain,
  type OverduePublication,
} from '../../processes/publication.process.js';
import { OVERDUE_PUBLICATIONS } from './publish-document.job.js';

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

it('a later version that is rescued still waits for first ones', async () => {
  const [first, later] = [randomUUID(), randomUUID()];
  await pool.query(
    `insert into publishing.publication (reading_id, version, workspace_id, artifact_id, due_at, correlation_id)
     values ($1, 1, 'ws_1', '', now() - interval '1 minute', 'req_1')`,
    [first],
  );
  await pool.query(
    `insert into publishing.republication (reading_id, version, workspace_id, due_at, correlation_id)
     values ($1, 2, 'ws_1', now() - interval '1 hour', 'req_2')`,
    [later],
  );
  const { rows } = await pool.query<OverduePublication>(OVERDUE_PUBLICATIONS, [10]);
  expect(rows.map(publishJobAgain).map(({ key, priority }) => [key, priority])).toEqual([
    [`publishing.publish:${later}`, 10],
    [`publishing.publish:${first}`, 0],
  ]);
});

it('a publication that a worker is making is not rescued, until the worker may have been killed', async () => {
  await pool.query('truncate publishing.publication, publishing.republication');
  await pool.query(
    `insert into publishing.publication (reading_id, version, workspace_id, artifact_id, due_at, correlation_id)
     values ($1, 1, 'ws_1', '', now() - interval '1 minute', 'req_1')`,
    [randomUUID()],
  );
  const found = async () => (await pool.query<OverduePublication>(OVERDUE_PUBLICATIONS, [10])).rows;
  const [overdue] = await found();
  const { payload, ...options } = publishJobAgain(overdue!);
  const { text, values } = addJob(PUBLISH_DOCUMENT, payload, options);
  await pool.query(text, values as unknown[]);
  const takenFor = (seconds: number) =>
    pool.query(
      `update graphile_worker._private_jobs
       set attempts = 1, locked_by = 'worker', locked_at = now() - make_interval(secs => $1)`,
      [seconds],
    );
  await takenFor(20);
  expect(await found()).toEqual([]);
  await takenFor(40);
  expect(await found()).toEqual([overdue]);
});
