import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { testPool } from '../../../../test/support/test-pool.js';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { DAY_MS, retentionLoop, retentionStatus, runRetention, type Retention } from './retention.js';
import { measureRetention } from '../work/worker-metrics.js';
import { heldRows, inSteps } from './rows.js';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const OLD = 25;
const AT_ONCE = 10;
const FORGET = `delete from thing where ctid = any (array(select ctid from thing where at < $1 limit ${AT_ONCE}))`;

const pool = testPool();

beforeAll(async () => {
  await pool.query('create table thing (at timestamptz not null)');
});
beforeEach(async () => {
  await pool.query('truncate thing, platform.retention_round');
  await pool.query(`insert into thing select '2026-01-01' from generate_series(1, ${OLD})`);
});

const things = (afterStep: () => void = () => undefined): Retention => ({
  kind: 'things',
  what: 'things',
  setting: 'THINGS_KEPT_DAYS',
  days: 10,
  graceDays: 0,
  held: (before) => heldRows(pool, { table: 'thing', at: 'at' }, before),
  async forget(before, signal) {
    const step = async () => {
      const { rowCount } = await pool.query(FORGET, [new Date(before)]);
      afterStep();
      return rowCount ?? 0;
    };
    return { removed: await inSteps(AT_ONCE, signal, step), keptSince: before };
  },
});
const count = async (): Promise<number> =>
  (await pool.query<{ count: number }>('select count(*)::integer from thing')).rows[0]!.count;
const status = (now = NOW) => retentionStatus(pool, things(), now);

/** One round of a worker's loop. @returns why it failed */
const workersRound = async (
  now: number | Error,
  kinds: readonly Retention[] = [things()],
): Promise<readonly string[]> => {
  const stopping = new AbortController();
  const reasons: string[] = [];
  const log = {
    info: () => undefined,
    warn: (told: object) => void reasons.push((told as { reason: string }).reason),
  };
  const clock = { now: async () => (now instanceof Error ? Promise.reject(now) : now) };
  const running = retentionLoop('retention', pool, kinds, clock, log).run(stopping.signal);
  const ended = async (): Promise<boolean> => reasons.length > 0 || (await status()).lastRun !== null;
  while (!(await ended())) await new Promise((resolve) => setImmediate(resolve));
  stopping.abort();
  await running;
  return reasons;
};

describe('Retention', () => {
  it('deletes nothing when no round was made for more than a week, until an operator makes one', async () => {
    await runRetention(pool, things(), NOW - 200 * DAY_MS, new AbortController().signal);
    expect(await count()).toBe(OLD);
    expect(await workersRound(NOW)).toEqual([
      expect.stringContaining('nothing is deleted until ops retention run'),
    ]);
    expect(await count()).toBe(OLD);
    expect(await status()).toMatchObject({ waitsSince: '2025-11-13T00:00:00.000Z', nextRun: null });
    const registry = new Registry();
    measureRetention(pool, registry);
    // Its age has an alert.
    expect(await registry.metrics()).toMatch(
      /^retention_round_timestamp_seconds\{kind="things"\} 1762992000$/m,
    );

    await runRetention(pool, things(), NOW, new AbortController().signal);
    expect(await count()).toBe(0);
    expect(await status(NOW + 7 * DAY_MS)).toMatchObject({ waitsSince: null });
    expect(await workersRound(NOW + 7 * DAY_MS)).toEqual([]);
  });

  it('that is stopped keeps what it deleted, and its next round goes on from there', async () => {
    const stopping = new AbortController();
    expect(
      await runRetention(
        pool,
        things(() => stopping.abort()),
        NOW,
        stopping.signal,
      ),
    ).toBeNull();
    expect(await status()).toMatchObject({ due: { rows: OLD - AT_ONCE }, lastRun: null });

    await runRetention(pool, things(), NOW + 60_000, new AbortController().signal);
    expect(await status()).toMatchObject({ due: { rows: 0 }, lastRun: { removedInAll: OLD - AT_ONCE } });
  });

  it('deletes nothing while the clocks cannot be trusted; a kind that fails does not stop the others', async () => {
    expect(await workersRound(new ClockUntrusted('the clocks differ'))).toEqual(['the clocks differ']);
    expect(await count()).toBe(OLD);
    const broken = { ...things(), kind: 'broken', forget: () => Promise.reject(new Error('it is locked')) };
    expect(await workersRound(NOW, [broken, things()])).toEqual(['it is locked']);
    expect(await count()).toBe(0);
  });

  it.each([
    [null, 0],
    [9, 0],
    [17, 0],
    [18, 1],
    [30, 13],
  ])('with the oldest of %p days lags by %p days behind term and grace', async (days, lagDays) => {
    const oldest = days === null ? null : NOW - days * DAY_MS;
    const held = async () => ({ oldest, due: { rows: 0, bytes: 0, partitions: null } });
    const kind = { ...things(), graceDays: 7, held };
    expect(await retentionStatus(pool, kind, NOW)).toMatchObject({ lagDays, lastRun: null, nextRun: null });
  });
});
