import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { pino } from 'pino';
import { z } from 'zod';
import { setTimeout as delay } from 'node:timers/promises';
import { runSteps, type Statement } from '#event-sourcing/projections/statement.js';
import { testPool } from '../../../../test/support/test-pool.js';
import { transaction } from '../postgres/pool.js';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { AGREEING, DIFFERING } from '../time/testing/clocks-under-test.js';
import type { TrustedTime } from '../time/trusted-time.js';
import { NotDueYet } from './not-due-yet.js';
import {
  addJob,
  handleJobs,
  jobKind,
  removeJob,
  runJobs,
  forgetReplacedJobs,
  stuckJobs,
  type JobPayload,
} from './job.js';

const GREET = jobKind('greet', z.object({ readingId: z.string().optional(), nr: z.int().optional() }));
const PART = jobKind('part', GREET.payload);
type Greet = z.infer<typeof GREET.payload>;

const pool = testPool();
let stops: (() => Promise<void>)[] = [];
const silent = pino({ level: 'silent' });

beforeEach(() => pool.query('delete from graphile_worker._private_jobs'));

afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
});

const run = ({ text, values }: Statement) => pool.query(text, values as unknown[]);

/** @returns a function that stops it */
const start = (
  handle: (payload: Greet, signal: AbortSignal) => Promise<void>,
  time: Pick<TrustedTime, 'isTrusted'> = AGREEING,
  from: pg.Pool = pool,
): (() => Promise<void>) => {
  const abort = new AbortController();
  const running = runJobs(from, [handleJobs(GREET, handle)], 2, time, silent).run(abort.signal);
  const stop = async () => {
    abort.abort();
    await running;
  };
  stops.push(stop);
  return stop;
};

const eventually = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It never happened');
    await delay(20);
  }
};

interface Waiting {
  readonly payload: JobPayload;
  readonly run_at: Date;
  readonly max_attempts: number;
  readonly key: string | null;
  readonly attempts: number;
}
const waiting = async (): Promise<Waiting[]> =>
  (
    await pool.query<Waiting>(
      'select payload, run_at, max_attempts, key, attempts from graphile_worker._private_jobs order by id',
    )
  ).rows;

describe('addJob', () => {
  it('adds several in one statement as one by one, in their order', async () => {
    const runAt = '2100-01-02T03:04:05.006Z';
    const jobs = [
      addJob(GREET, { nr: 1 }, { key: 'k' }),
      addJob(GREET, { nr: 2 }, { key: 'k', runAt, maxAttempts: 3, priority: 4 }),
      addJob(GREET, { readingId: `"{}\\,'` }),
    ];
    await transaction(pool, (client) => runSteps(client, jobs));
    const inOne = await waiting();
    await pool.query('delete from graphile_worker._private_jobs');
    for (const job of jobs) await run(job);
    const oneByOne = await waiting();
    const withoutNow = ({ run_at, ...job }: Waiting) => ({ ...job, run_at: job.key === 'k' && run_at });
    expect(inOne.map(withoutNow)).toEqual(oneByOne.map(withoutNow));
    expect(inOne[0]).toMatchObject({ payload: { nr: 2 }, max_attempts: 3, run_at: new Date(runAt) });
  });

  describe('with turns', () => {
    /** Adds jobs of a workspace in one transaction, named by letter and number: a1, a2, … */
    const order = (
      name: string,
      workspaceId: string,
      jobs: number,
      { isBulk = false, length = 1, kind = GREET } = {},
    ): Promise<void> =>
      transaction(pool, (client) =>
        runSteps(
          client,
          Array.from({ length: jobs }, (_, index) =>
            addJob(
              kind,
              { readingId: `${name}${index + 1}` },
              { key: `${name}${index + 1}`, turn: { workspaceId, isBulk, length } },
            ),
          ),
        ),
      );

    /** What the queue hands out next, at most so many. */
    const next = async (most: number): Promise<string[]> => {
      const { rows } = await pool.query<{ name: string }>(
        `select payload ->> 'readingId' as name from graphile_worker._private_jobs
         where is_available order by priority, run_at, id limit $1`,
        [most],
      );
      return rows.map(({ name }) => name);
    };

    const serve = async (most: number): Promise<void> => {
      for (const name of await next(most)) await run(removeJob(name));
    };

    beforeEach(() => pool.query('truncate platform.job_turn'));

    it('serves a workspace with three jobs at once beside one with a thousand', async () => {
      await order('a', 'ws_a', 1_000);
      await serve(100);
      await order('b', 'ws_b', 3);
      expect(await next(7)).toEqual(['a101', 'b1', 'a102', 'b2', 'a103', 'b3', 'a104']);
    });

    it('gives a workspace that always has one waiting no more than its turns', async () => {
      await order('a', 'ws_a', 100);
      const served: string[] = [];
      for (let nr = 1; nr <= 10; nr += 1) {
        await order(`b${nr}-`, 'ws_b', 1);
        served.push(...(await next(2)));
        await serve(2);
      }
      expect(served.filter((name) => name.startsWith('a'))).toHaveLength(10);
    });

    it('serves a job of its own with the next turn of its workspace, whatever its bulks have waiting', async () => {
      await order('bulk', 'ws_a', 50, { isBulk: true });
      await order('b', 'ws_b', 50);
      await serve(20);
      await order('own', 'ws_a', 1);
      expect(await next(3)).toEqual(['bulk11', 'b11', 'own1']);
    });

    it('serves kinds side by side, and those with shorter turns more often', async () => {
      await order('begins', 'ws_a', 100, { length: 2 });
      await order('ends', 'ws_a', 10, { kind: PART });
      await order('neighbour', 'ws_b', 1, { length: 2 });
      expect(await next(7)).toEqual(['begins1', 'ends1', 'neighbour1', 'ends2', 'begins2', 'ends3', 'ends4']);
    });

    it('can be taken at once when nobody waits, whatever a workspace had before', async () => {
      await order('a', 'ws_a', 500);
      await serve(500);
      await order('b', 'ws_a', 1);
      const { rows } = await pool.query('select run_at <= now() as due from graphile_worker._private_jobs');
      expect(rows).toEqual([{ due: true }]);
    });
  });
});

describe('handleJobs', () => {
  it('passes payloads of its kind, and refuses others by the names of their members', async () => {
    const seen: Greet[] = [];
    const { handle } = handleJobs(GREET, async (payload) => void seen.push(payload));
    const { signal } = new AbortController();
    await handle({ nr: 1, ofALaterVersion: true }, signal);
    expect(seen).toEqual([{ nr: 1 }]);
    await expect(handle({ nr: 'Ada' }, signal)).rejects.toThrow('Not a payload of greet: nr: invalid_type');
    await expect(handle(null, signal)).rejects.toThrow(TypeError);
    expect(seen).toHaveLength(1);
  });
});

it('removeJob removes waiting jobs, also several in one statement, and accepts that there is none', async () => {
  for (const key of ['a', 'b', 'c', 'd']) await run(addJob(GREET, {}, { key }));
  await run(removeJob('d'));
  await run(removeJob('d'));
  await transaction(pool, (client) => runSteps(client, ['a', 'none', 'c'].map(removeJob)));
  expect((await waiting()).map(({ key }) => key)).toEqual(['b']);
});

/** The pool, whose statements fail once when they contain the text. */
const failingOnce = (text: string): pg.Pool => {
  let isFailing = true;
  const failing = (client: pg.PoolClient): pg.PoolClient =>
    new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'query') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        return (...given: readonly unknown[]) => {
          if (!isFailing || !JSON.stringify(given[0]).includes(text))
            return (value as (...args: unknown[]) => unknown).apply(target, [...given]);
          isFailing = false;
          return Promise.reject(Object.assign(new Error('connection lost'), { code: 'ECONNRESET' }));
        };
      },
    });
  return new Proxy(pool, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === 'connect')
        return (listen?: Parameters<pg.Pool['connect']>[0]) =>
          listen ? target.connect(listen) : target.connect().then(failing);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
};

describe('runJobs', () => {
  it.each(['_private_tasks as tasks (identifier)', 'locked_by = $1::text', 'migrations'])(
    'runs jobs although the database fails as it starts, in a statement with "%s"',
    async (text) => {
      const done: unknown[] = [];
      await run(addJob(GREET, { nr: 1 }));
      start(async ({ nr }) => void done.push(nr), AGREEING, failingOnce(text));
      await eventually(() => done.length === 1);
    },
  );

  it('runs waiting and new jobs once, and leaves one alone until its time', async () => {
    const done: unknown[] = [];
    await run(addJob(GREET, { nr: 1 }));
    await run(addJob(GREET, { nr: 0 }, { runAt: '2100-01-01T00:00:00.000Z' }));
    start(async ({ nr }) => void done.push(nr));
    await run(addJob(GREET, { nr: 2 }));
    await eventually(async () => done.length === 2 && (await waiting()).length === 1);
    expect(done.toSorted()).toEqual([1, 2]);
  });

  it.each([
    ['whose time has not come by another clock', AGREEING, new NotDueYet(3_600_000), [3_000_000, 3_600_000]],
    ['that finds that the clocks differ', AGREEING, new ClockUntrusted('they differ'), [0, 5_000]],
    ['while the clocks differ', DIFFERING, null, [0, 5_000]],
  ] as const)('puts off a job %s, without counting an attempt', async (_, time, failure, [least, most]) => {
    let tries = 0;
    await run(addJob(GREET, { nr: 7 }, { key: 'k', maxAttempts: 3, priority: 4 }));
    start(async () => {
      tries += 1;
      if (failure) throw failure;
    }, time);
    const inMs = async (): Promise<number | null> => {
      const { rows } = await pool.query<{ ms: number }>(
        `select (extract(epoch from run_at - clock_timestamp()) * 1000)::float8 as ms from graphile_worker.jobs
         where key = 'k' and attempts = 0 and max_attempts = 3 and priority = 4 and locked_at is null`,
      );
      return rows[0]?.ms ?? null;
    };
    let leftMs = -1;
    await eventually(async () => (leftMs = (await inMs()) ?? -1) > least);
    expect(leftMs).toBeLessThanOrEqual(most);
    // The job that was running is there until its worker has ended it.
    await eventually(async () => (await waiting()).length === 1);
    // On a slow machine its new time may have come, and it was put off again.
    expect(tries > 0).toBe(failure !== null);
  });

  it('finishes running jobs when it is stopped, and signals them', async () => {
    let finished = false;
    let begun = false;
    await run(addJob(GREET, {}));
    const stop = start(async (_, signal) => {
      begun = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      finished = true;
    });
    await eventually(() => begun);
    await stop();
    expect(finished).toBe(true);
    // Its row disappears when its connection returns to the pool, which the end of the process waits for.
    await eventually(async () => (await waiting()).length === 0);
  });
});

const change = (key: string, state: string) =>
  pool.query(`update graphile_worker._private_jobs set ${state} where key = $1`, [key]);
const keys = async () =>
  (await pool.query<{ key: string | null }>('select key from graphile_worker.jobs order by id')).rows.map(
    ({ key }) => key,
  );

it('a job whose worker was killed is not stuck once another has replaced it, and is deleted later', async () => {
  for (const key of ['again', 'removed', 'spent']) await run(addJob(GREET, {}, { key }));
  for (const key of ['again', 'removed'])
    await change(key, `attempts = 1, locked_at = now(), locked_by = 'killed'`);
  await change('spent', 'attempts = max_attempts');
  await run(addJob(GREET, {}, { key: 'again' }));
  await run(removeJob('removed'));
  expect(await stuckJobs(pool)).toMatchObject({ dead: 1, failing: 0 });

  expect(await forgetReplacedJobs(pool)).toBe(0);
  await pool.query(`update graphile_worker._private_jobs set locked_at = now() - interval '2 hours'
                    where locked_by = 'killed'`);
  expect(await forgetReplacedJobs(pool)).toBe(2);
  expect(await keys()).toEqual(['spent', 'again']);
});

it('the age of a job that nobody takes shows from the first second on', async () => {
  for (const key of ['waiting', 'turn', 'taken', 'timer']) await run(addJob(GREET, {}, { key }));
  await change('waiting', `run_at = now() - interval '61 seconds', created_at = run_at - interval '1 day'`);
  // The turn of a job may be before the job was added.
  await change('turn', `run_at = now() - interval '1 day'`);
  await change('taken', `run_at = now() - interval '1 hour', locked_at = now()`);
  await change('timer', `run_at = now() + interval '1 hour'`);
  const { oldest } = await stuckJobs(pool);
  expect(oldest).toBeGreaterThanOrEqual(61);
  expect(oldest).toBeLessThan(3_600);
});
