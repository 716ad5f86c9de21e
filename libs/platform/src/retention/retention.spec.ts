import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { ClockUntrusted } from '#event-sourcing/core/trusted-clock.js';
import { DAY_MS, retentionLoop, retentionStatus, type Retention } from './retention.js';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const silent = { warn: () => undefined, info: () => undefined };

/** A kind with a term of 10 days, whose oldest is this many days old. */
const kindOf = (kind: string, oldestDays: number | null, forget: Retention['forget']): Retention => ({
  kind,
  what: 'things',
  setting: 'THINGS_KEPT_DAYS',
  days: 10,
  graceDays: 7,
  held: async () => ({
    oldest: oldestDays === null ? null : NOW - oldestDays * DAY_MS,
    due: { rows: 0, bytes: 0, partitions: null },
  }),
  forget,
});
const forgetsNothing: Retention['forget'] = async (before) => ({ removed: 0, keptSince: before });
const noRounds = { query: async () => ({ rows: [] }) } as unknown as Pool;

describe('A round of retention', () => {
  it('deletes nothing while the clocks cannot be trusted; a kind that fails does not stop the others', async () => {
    const forgotten: string[] = [];
    const reasons: string[] = [];
    let isTrusted = false;
    const stopping = new AbortController();
    const kinds = [
      kindOf('broken', 0, async () => Promise.reject(new Error('the table is locked'))),
      kindOf('sound', 0, async (before) => {
        forgotten.push('sound');
        stopping.abort();
        return { removed: 0, keptSince: before };
      }),
    ];
    const clock = {
      now: async () => {
        if (isTrusted) return NOW;
        setImmediate(() => stopping.abort());
        throw new ClockUntrusted('the clocks differ');
      },
    };
    const log = { ...silent, warn: (told: object) => void reasons.push((told as { reason: string }).reason) };
    await retentionLoop('retention', noRounds, kinds, clock, log).run(stopping.signal);
    expect(forgotten).toEqual([]);

    isTrusted = true;
    const again = new AbortController();
    const running = retentionLoop('retention', noRounds, kinds, clock, log).run(again.signal);
    while (forgotten.length === 0) await new Promise((resolve) => setImmediate(resolve));
    again.abort();
    await running;
    expect(reasons).toEqual(['the clocks differ', 'the table is locked']);
  });
});

describe('The status of retention', () => {
  it.each([
    [null, 0],
    [9, 0],
    [17, 0],
    [18, 1],
    [30, 13],
  ])('with the oldest of %p days lags by %p days behind term and grace', async (oldestDays, lagDays) => {
    expect(await retentionStatus(noRounds, kindOf('things', oldestDays, forgetsNothing), NOW)).toMatchObject({
      lagDays,
      lastRun: null,
      nextRun: null,
    });
  });
});
