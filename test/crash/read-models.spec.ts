import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { projectPath } from '#platform/project-path.js';
import { rounds } from '../support/rounds.js';
import { SimulatedPostgres } from './support/simulation/postgres.js';
import { simulatedRendering, simulatedTimers } from './support/simulation/stand-ins.js';

jest.unstable_mockModule('node:timers/promises', () => simulatedTimers);
jest.unstable_mockModule('#publishing/document/compose.js', () => simulatedRendering);
jest.unstable_mockModule('#publishing/markdown/render.js', () => simulatedRendering);

const { simulate } = await import('./support/simulation/simulate.js');
const { digestOf, rowsOf } = await import('../support/fold-log.js');
const { Random } = await import('../support/random.js');

const SEEDS = Array.from({ length: rounds(4, 12) }, (_, index) => index + 1);

/** Logs of simulated services, with crashes and retries. */
let logs: readonly (readonly StoredEvent[])[];

beforeAll(async () => {
  const postgres = await SimulatedPostgres.start();
  const recorded = [];
  for (const seed of SEEDS) recorded.push((await simulate(postgres, seed)).log);
  await postgres.stop();
  logs = recorded;
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

describe('The rows of every view', () => {
  it('exist for every table in these logs', () => {
    const filled = new Set<string>();
    for (const log of logs)
      for (const [table, rows] of Object.entries(rowsOf(log)))
        if (Object.keys(rows).length > 0) filled.add(table);
    expect([...filled]).toEqual(
      expect.arrayContaining(['billing.balance', 'readings.reading', 'webhooks.endpoint']),
    );
  });

  it('are the same when every event arrives twice', () => {
    for (const log of logs) expect(rowsOf(log.flatMap((event) => [event, event]))).toEqual(rowsOf(log));
  });

  it('are the same for any order of the categories in which no effect precedes its cause', () => {
    let reordered = 0;
    for (const [index, log] of logs.entries()) {
      const other = interleaved(log, index + 1);
      // A log of a few events may come in its own order again.
      if (other.some(({ id }, place) => id !== log[place]!.id)) reordered += 1;
      expect(rowsOf(other)).toEqual(rowsOf(log));
    }
    expect(reordered).toBeGreaterThan(logs.length / 2);
  });
});

/** The digests of the logs, computed in another process with this environment. */
const elsewhere = (env: Record<string, string>): unknown => {
  const script = `
    import { digestOf } from '${projectPath('dist/test/support/fold-log.js')}';
    const pieces = [];
    for await (const piece of process.stdin) pieces.push(piece);
    const logs = JSON.parse(Buffer.concat(pieces), (_, value) => (value?.bigint ? BigInt(value.bigint) : value));
    process.stdout.write(JSON.stringify(logs.map(digestOf)));`;
  const input = JSON.stringify(logs, (_, value: unknown) =>
    typeof value === 'bigint' ? { bigint: String(value) } : value,
  );
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
  });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout);
};

it.each([
  { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
])('Rows and states are the same in another time zone and language: $TZ, $LANG', (env) => {
  expect(elsewhere(env)).toEqual(logs.map(digestOf));
});
