import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { projectPath } from '#platform/project-path.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { SimulatedPostgres } from './support/simulation/postgres.js';
import { simulatedRendering, simulatedTimers } from './support/simulation/stand-ins.js';

jest.unstable_mockModule('node:timers/promises', () => simulatedTimers);
jest.unstable_mockModule('#publishing/document/compose.js', () => simulatedRendering);
jest.unstable_mockModule('#publishing/markdown/render.js', () => simulatedRendering);

const { simulate } = await import('./support/simulation/simulate.js');
const { digestOf, rowsOf } = await import('../support/fold-log.js');
const { Random } = await import('../support/random.js');
type Run = Awaited<ReturnType<typeof simulate>>;

const SEEDS = rounds(12, 2_000);
const FIRST_SEED = seedOr(1);
/** Logs that the read models are made of. */
const LOGS = 12;

let postgres: SimulatedPostgres;
const runs: Pick<Run, 'log' | 'digest' | 'steps'>[] = [];

beforeAll(async () => {
  postgres = await SimulatedPostgres.start();
});
afterAll(() => postgres.stop());

describe(`a simulated service of two APIs and two workers, with ${SEEDS} seeds from ${FIRST_SEED}`, () => {
  it(
    'keeps its promises whatever fails',
    async () => {
      const sums = { completed: 0, testCompleted: 0, crashes: 0, unanswered: 0, losses: 0 };
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
        // A single seed is looked at step by step.
        const run = await simulate(postgres, seed, { traced: SEEDS === 1 });
        const course = SEEDS === 1 ? run.trace.join('\n') : `Again: ${again('simulation', 1, seed)}`;
        if (run.breaches.length > 0) throw new Error(`${run.breaches.join('\n')}\n\n${course}`);
        for (const what of Object.keys(sums) as (keyof typeof sums)[]) sums[what] += run[what];
        const { log, digest, steps } = run;
        if (runs.length < LOGS) runs.push({ log, digest, steps });
      }
      if (SEEDS === 1) return;
      expect(sums.completed).toBeGreaterThan(SEEDS);
      expect(sums.testCompleted).toBeGreaterThan(SEEDS / 4);
      expect(sums.crashes).toBeGreaterThan(SEEDS);
      expect(sums.unanswered).toBeGreaterThan(SEEDS);
      expect(sums.losses).toBeGreaterThan(SEEDS / 10);
    },
    // Half a second each on a quiet machine.
    60_000 + SEEDS * 30_000,
  );

  it('takes the same course with the same seed, and another with another seed', async () => {
    const { digest, steps } = await simulate(postgres, FIRST_SEED);
    expect({ digest, steps }).toEqual({ digest: runs[0]!.digest, steps: runs[0]!.steps });
    expect(new Set(runs.map((run) => run.digest)).size).toBe(runs.length);
  });
});

/**
 * Another possible order of the log: each stream in its own order, and no effect before its cause. A sweep names no
 * event as its cause, but a reading. Then all events of that reading count as causes.
 */
const interleaved = (log: readonly StoredEvent[], seed: number): StoredEvent[] => {
  const random = new Random(seed);
  const names = [...new Set(log.map(({ stream }) => stream))];
  const streams = new Map(names.map((name) => [name, log.filter(({ stream }) => stream === name)]));
  const untold = new Set(log.map(({ id }) => id));
  const isReady = ({ stream, metadata: { causationId } }: StoredEvent): boolean => {
    const reading = `reading-${causationId}`;
    return !untold.has(causationId) && (reading === stream || !streams.get(reading)?.length);
  };
  const order: StoredEvent[] = [];
  while (order.length < log.length) {
    const ready = [...streams.values()].flatMap(([next]) => (next && isReady(next) ? [next] : []));
    const event = random.pick(ready as [StoredEvent, ...StoredEvent[]]);
    streams.get(event.stream)!.shift();
    untold.delete(event.id);
    order.push(event);
  }
  return order;
};

/** The digests of the logs, computed in another process with this environment. */
const elsewhere = (env: Record<string, string>): unknown => {
  const script = `
    import { digestOf } from '${projectPath('dist/test/support/fold-log.js')}';
    const pieces = [];
    for await (const piece of process.stdin) pieces.push(piece);
    const logs = JSON.parse(Buffer.concat(pieces), (_, value) => (value?.bigint ? BigInt(value.bigint) : value));
    process.stdout.write(JSON.stringify(logs.map(digestOf)));`;
  const input = JSON.stringify(
    runs.map(({ log }) => log),
    (_, value: unknown) => (typeof value === 'bigint' ? { bigint: String(value) } : value),
  );
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
  });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout);
};

describe('the rows of every view, made of these logs', () => {
  it('exist for every table', () => {
    const filled = new Set<string>();
    for (const { log } of runs)
      for (const [table, rows] of Object.entries(rowsOf(log)))
        if (Object.keys(rows).length > 0) filled.add(table);
    expect([...filled]).toEqual(
      expect.arrayContaining(['billing.balance', 'readings.reading', 'webhooks.endpoint']),
    );
  });

  it('are the same when every event arrives twice', () => {
    for (const { log } of runs) expect(rowsOf(log.flatMap((event) => [event, event]))).toEqual(rowsOf(log));
  });

  it('are the same for any order of the categories in which no effect precedes its cause', () => {
    let reordered = 0;
    for (const [index, { log }] of runs.entries()) {
      const other = interleaved(log, index + 1);
      // A log of a few events may come in its own order again.
      if (other.some(({ id }, place) => id !== log[place]!.id)) reordered += 1;
      expect(rowsOf(other)).toEqual(rowsOf(log));
    }
    expect(reordered).toBeGreaterThanOrEqual(runs.length / 2);
  });

  it('are the same in another time zone and language, and so are all states', () => {
    for (const [TZ, LANG] of [
      ['Pacific/Kiritimati', 'tr_TR.UTF-8'],
      ['America/St_Johns', 'de_DE.UTF-8'],
    ] as const)
      expect(elsewhere({ TZ, LANG, LC_ALL: LANG })).toEqual(runs.map(({ log }) => digestOf(log)));
  });
});
