import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { DroppingEventStore } from '#event-sourcing/testing/dropping-event-store.js';
import { addJob } from '#platform/jobs/job.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { openPool } from '#platform/postgres/pool.js';
import { TypesettingHung } from '#platform/typesetting/typesetting-pool.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { camille, resultOf } from '../document/testing/people.js';
import { PUBLISH_DOCUMENT, publishJobAgain, type OverduePublication } from '../processes.js';
import { createPublicationExecutor, type PublicationExecutor } from './publications.js';
import { OVERDUE_PUBLICATIONS, PublishDocumentJob } from './publish-document.job.js';
import { RenderAttempts } from './publish-document.job.js';

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
    [`publishing.publish:${first}`, 1],
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

describe('a document', () => {
  type Render = (document: unknown, paper: unknown, begin: () => Promise<void>) => Promise<Buffer>;
  const bytes = Buffer.from(JSON.stringify(resultOf(camille, 'fr-FR', 'feminine')));
  const queries = {
    execute: async (query: object) =>
      query instanceof GetPaper ? 'a4' : { livemode: true, workspaceId: 'ws_1', bytes },
  };
  let publications: PublicationExecutor;
  let readingId: string;
  let renders: number;

  beforeEach(() => {
    publications = createPublicationExecutor(new DroppingEventStore());
    readingId = randomUUID();
    renders = 0;
  });

  const run = (render: Render): Promise<void> =>
    new PublishDocumentJob(
      publications,
      { render, close: async () => undefined },
      { now: () => Date.parse('2026-11-22T12:00:00.000Z') },
      { error: () => undefined } as never,
      queries as never,
      {} as never,
      new RenderAttempts(pool),
    ).run({ readingId, workspaceId: 'ws_1', correlationId: 'c', causationId: 'e' });

  /** A worker that is killed while it typesets: nothing of it comes after. */
  const killed = () =>
    new Promise<void>((resolve, reject) => {
      run(async (_document, _paper, begin) => {
        await begin();
        renders += 1;
        resolve();
        return new Promise(() => undefined);
      }).then(resolve, reject);
    });
  const failsWith =
    (error: Error): Render =>
    async (_document, _paper, begin) => {
      await begin();
      renders += 1;
      throw error;
    };
  const failed = async () => [...(await publications.load(readingId)).state.failed];

  it('that kills three workers, or hangs in them, is given up and never typeset again', async () => {
    await killed();
    await expect(run(failsWith(new TypesettingHung('no end')))).rejects.toThrow(NotDueYet);
    await killed();
    expect(await failed()).toEqual([]);
    await killed();
    await killed();
    expect([renders, await failed()]).toEqual([3, [1]]);
  });

  it('that cannot be made, or meets a store that is away, uses none of its attempts', async () => {
    for (let time = 0; time < 4; time += 1) {
      await expect(run(failsWith(new RangeError('no')))).rejects.toThrow(NotDueYet);
      await expect(run(failsWith(new StoreUnavailable('away', false)))).rejects.toThrow(StoreUnavailable);
    }
    expect([renders, await failed()]).toEqual([8, []]);
  });
});
