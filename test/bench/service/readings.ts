import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Integrator } from '../../support/integrator.js';
import { somebody } from './somebody.js';
import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { projectPath } from '#platform/project-path.js';
import type { StartedStack } from '../../support/start-stack.js';
import { timed } from '../measure.js';
import { cpuMilliseconds } from '../processes.js';

const LOOK_MS = 5;

/** Milliseconds from now until a reading's status row exists and meets the condition, to 5 ms. */
const untilRow = async (database: pg.Pool, readingId: string, condition = 'true'): Promise<number> => {
  const startedAt = performance.now();
  for (;;) {
    const { rowCount } = await database.query({
      name: `until ${condition}`,
      text: `select from readings.reading where reading_id = $1 and ${condition}`,
      values: [readingId],
    });
    if (rowCount === 1) return performance.now() - startedAt;
    await delay(LOOK_MS);
  }
};

/**
 * Measures the time from the 202 response until a caller can see that the document is available, one reading at a time.
 * Does not use `publishedAt` − `createdAt`, since `publishedAt` is fixed before rendering. @returns milliseconds
 */
export const measureLatency = async (
  customer: Integrator,
  database: pg.Pool,
  readings: number,
): Promise<number[]> => {
  const latencies: number[] = [];
  for (let made = 0; made < readings; made += 1) {
    const { body } = await customer.create(somebody(made));
    latencies.push(await untilRow(database, body.readingId, 'published_at is not null'));
    await delay(100);
  }
  return latencies;
};

/** Readings offered in a second. */
export const OFFERED = 100;
/** One in N readings is measured. */
const WATCHED = 4;

/**
 * Measures the time from a reading's acceptance, as recorded in its event, to its row, while 100 readings per second
 * are offered. A slow machine accepts fewer, or refuses some.
 * @returns lags in milliseconds, ascending, and the readings accepted in a second
 */
export const measureLag = async (
  customer: Integrator,
  database: pg.Pool,
  seconds: number,
): Promise<{ readonly lags: readonly number[]; readonly perSecond: number }> => {
  const lags: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  let acceptedAt = startedAt;
  let accepted = 0;
  for (let n = 0; n < seconds * OFFERED; n += 1) {
    await delay(startedAt + (n * 1_000) / OFFERED - performance.now());
    pending.push(
      (async () => {
        const { status, body } = await customer.create(somebody(n));
        if (status !== 202) return;
        accepted += 1;
        acceptedAt = performance.now();
        if (n % WATCHED === 0) lags.push(await lagOf(database, body.readingId));
      })(),
    );
  }
  await Promise.all(pending);
  const perSecond = (accepted * 1_000) / (acceptedAt - startedAt);
  return { lags: lags.sort((one, other) => one - other), perSecond };
};

const lagOf = async (database: pg.Pool, readingId: string): Promise<number> => {
  await untilRow(database, readingId);
  const seenAt = Date.now();
  const { rows } = await database.query<{ acceptedAt: Date }>(
    'select created_at as "acceptedAt" from readings.reading where reading_id = $1',
    [readingId],
  );
  return seenAt - rows[0]!.acceptedAt.getTime();
};

/** Warm-up readings. */
const WARM_UP = 100;

interface Sustained {
  readonly perSecond: number;
  /** CPU time per reading of all processes, milliseconds. */
  readonly cpuMs: number;
  /** CPU time per reading for calculation and rendering alone, in a loop on every core, milliseconds. */
  readonly aloneMs: number;
}

/** Measures readings of different people at full load, from the first request to the last publication. */
export const measureSustained = async (
  stack: StartedStack,
  customer: Integrator,
  readings: number,
  settle: () => Promise<void>,
): Promise<Sustained> => {
  const request = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      const { status } = await customer.create(somebody(n));
      if (status !== 202) throw new Error(`A request was answered ${status}`);
    }
    await settle();
  };
  const pids = Object.entries(stack.pids()).flatMap(([name, pid]) => (name === 'main' ? [] : [pid]));
  const cpu = (): number => pids.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
  await request(0, WARM_UP);
  // Before and after, since the machine may become faster or slower meanwhile.
  const aloneBefore = await alone(readings);
  const [cpuBefore, startedAt] = [cpu(), performance.now()];
  await request(WARM_UP, WARM_UP + readings);
  const perSecond = (readings * 1_000) / (performance.now() - startedAt);
  const cpuMs = (cpu() - cpuBefore) / readings;
  return { perSecond, cpuMs, aloneMs: (aloneBefore + (await alone(readings))) / 2 };
};

/** The same people sequentially, on all cores at once, since cores that share hardware then run slower. */
const alone = async (readings: number): Promise<number> => {
  const program = projectPath('dist/test/bench/service/alone.js');
  const runs = await Promise.all(
    cpus().map(() => promisify(execFile)(process.execPath, [program, String(WARM_UP), String(readings)])),
  );
  return runs.reduce((sum, { stdout }) => sum + Number(stdout), 0) / runs.length;
};

const READINGS = 1_000;
/** Bulks before the measurement, so that the hot code is compiled. */
const WARM_UP_BULKS = 3;
const BULKS = 5;

const readings = Array.from({ length: READINGS }, (_, index) => somebody(index));

/** One bulk of 1,000 readings. @throws Error when one is refused */
const acceptBulk = async (customer: Integrator): Promise<void> => {
  const body = { mode: 'all', readings };
  const answer = await customer.call<{ accepted: number }>('POST', '/api/v1/readings/bulk', { body });
  if (answer.body.accepted !== READINGS) throw new Error(`A bulk was answered ${answer.status}.`);
};

/** Bulks of 1,000 readings, one after another. @returns milliseconds of each */
export const measureBulks = async (customer: Integrator): Promise<readonly number[]> => {
  const took: number[] = [];
  for (let bulk = 0; bulk < WARM_UP_BULKS + BULKS; bulk += 1) {
    took.push(await timed(() => acceptBulk(customer)));
  }
  return took.slice(WARM_UP_BULKS);
};

/** Readings accepted in a second. */
export const bulkRate = (took: readonly number[]): number =>
  (took.length * READINGS * 1_000) / took.reduce((sum, ms) => sum + ms, 0);
