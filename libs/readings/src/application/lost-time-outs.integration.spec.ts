import { beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import { addJob } from '#platform/jobs/job.js';
import { rescueOverdue, type OverdueJobs } from '#platform/jobs/rescue.js';
import { testPool } from '../../../../test/support/test-pool.js';
import {
  readingJobAgain,
  readingJobKey,
  type OverdueReading,
  type ReadingJob,
  type ReadingJobKind,
} from '../contracts/reading-job.js';
import { insertReading } from '../../test/readings.js';
import { GENERATE_READING, TIME_OUT_READING, lostTimeOuts, OVERDUE_READINGS } from './generate-reading.js';

const TIMEOUT_MS = 60_000;
const pool = testPool('applicationUrl');

beforeEach(() => pool.query('delete from readings.reading; delete from graphile_worker._private_jobs'));

const reading = (ageSeconds: number, { ended = false, livemode = true } = {}): Promise<string> =>
  insertReading(pool, {
    status: ended ? 'completed' : 'processing',
    created_at: new Date(Date.now() - ageSeconds * 1_000),
    due_at: ended ? null : new Date(),
    livemode,
  });

/** The job that the rescue adds again for a reading. */
const again = (kind: ReadingJobKind, readingId: string) =>
  readingJobAgain(kind)({ reading_id: readingId, workspace_id: 'ws_1', correlation_id: 'req_1' });
const add = ({ text, values }: ReturnType<typeof addJob>) => pool.query(text, values as unknown[]);

const TIME_OUTS = {
  kind: TIME_OUT_READING,
  overdue: lostTimeOuts(TIMEOUT_MS),
  jobOf: readingJobAgain(TIME_OUT_READING),
};

/** One round of the rescue, as the worker runs it. */
const rescue = async (jobs: OverdueJobs<ReadingJob, OverdueReading> = TIME_OUTS): Promise<void> => {
  const abort = new AbortController();
  const watched = {
    query: async (text: string, values: unknown[]) => {
      const answer: unknown = await pool.query(text, values);
      if (text.includes('readings.reading')) setTimeout(() => abort.abort(), 300);
      return answer;
    },
  } as unknown as pg.Pool;
  await rescueOverdue(watched, jobs, { warn: () => undefined }).run(abort.signal);
};

const waiting = async () =>
  (
    await pool.query<{ key: string; due: boolean }>(
      'select key, run_at <= now() as due from graphile_worker._private_jobs order by key',
    )
  ).rows;

it('adds the time-outs of readings again that a lost job queue had, once each', async () => {
  const lost = await reading(120);
  await reading(70);
  await reading(120, { ended: true });
  const kept = await reading(120);
  const { key, payload } = again(TIME_OUT_READING, kept);
  await add(addJob(TIME_OUT_READING, payload, { key, runAt: '2100-01-01T00:00:00Z' }));
  for (let round = 0; round < 2; round += 1) await rescue();
  expect(await waiting()).toEqual(
    [
      { key: readingJobKey(TIME_OUT_READING, lost), due: true },
      { key, due: false },
    ].toSorted((one, other) => (one.key < other.key ? -1 : 1)),
  );
});

it('adds an overdue attempt again, but not one that waits in the queue for its turn or its time', async () => {
  const GENERATIONS = {
    kind: GENERATE_READING,
    overdue: OVERDUE_READINGS,
    jobOf: readingJobAgain(GENERATE_READING),
  };
  const overdue = (livemode: boolean) => reading(60, { livemode });
  const jobOf = async (state: string, options: { runAt?: string } = {}): Promise<string> => {
    const id = await overdue(true);
    const { payload, key } = again(GENERATE_READING, id);
    await add(addJob(GENERATE_READING, payload, { key, priority: 7, ...options }));
    await pool.query(`update graphile_worker._private_jobs set ${state} where key = $1`, [key]);
    return id;
  };
  const far = { runAt: '2100-01-01T00:00:00Z' };
  const [lost, lostTest] = [await overdue(true), await overdue(false)];
  const expected = new Map<string, number>([
    [lost, 1],
    [lostTest, 5],
    [await jobOf('priority = 7'), 7],
    [await jobOf('priority = 7', far), 7],
    [await jobOf('attempts = 3', far), 1],
    [await jobOf(`attempts = 3, run_at = now() - interval '10 seconds'`), 7],
    [await jobOf(`attempts = 3, run_at = now() - interval '2 minutes'`), 1],
    [await jobOf('attempts = max_attempts'), 1],
    [await jobOf(`attempts = 1, locked_at = now() - interval '1 hour', locked_by = 'killed'`), 1],
  ]);
  await rescue(GENERATIONS);
  const { rows } = await pool.query<{ key: string; priority: number }>(
    'select key, priority from graphile_worker._private_jobs where key is not null and is_available',
  );
  expect(new Map(rows.map(({ key, priority }) => [key.split(':')[1], priority]))).toEqual(expected);
});
