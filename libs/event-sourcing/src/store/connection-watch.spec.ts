import { describe, expect, it } from '@jest/globals';
import {
  afterCall,
  afterFreshAnswer,
  due,
  newWatch,
  type CallOutcome,
  type ConnectionWatch,
} from './connection-watch.js';

const BOUNDS = { stuckAfterMs: 15_000, quietMs: 5_000 };

const calls = (watch: ConnectionWatch, kind: CallOutcome['kind'], answered: boolean, ...times: number[]) =>
  times.reduce((seen, at) => afterCall(seen, { kind, answered, at }), watch);
const failedReads = (watch: ConnectionWatch, from: number): ConnectionWatch =>
  calls(watch, 'read', false, from, from + 5_000, from + 15_000);
const fresh = newWatch(0);

describe('a watched connection', () => {
  it('is probed when it was quiet, so that its state is known', () => {
    expect(due(fresh, 4_999, BOUNDS)).toBe('nothing');
    expect(due(fresh, 5_000, BOUNDS)).toBe('call');
    expect(due(calls(fresh, 'append', true, 4_000), 8_999, BOUNDS)).toBe('nothing');
  });

  it('is compared with a fresh one after several calls have failed for long and none was answered', () => {
    expect(due(failedReads(fresh, 0), 14_999, BOUNDS)).toBe('nothing');
    expect(due(failedReads(fresh, 0), 15_000, BOUNDS)).toBe('ask afresh');
    expect(due(calls(fresh, 'read', false, 0, 19_000), 20_000, BOUNDS)).toBe('nothing');
    const answeredOnce = calls(calls(fresh, 'read', false, 0, 5_000), 'read', true, 6_000);
    expect(due(calls(answeredOnce, 'read', false, 7_000, 8_000, 15_000), 15_001, BOUNDS)).toBe('nothing');
  });

  it('is kept while the store answers no one, however long that lasts', () => {
    let watch = fresh;
    for (let round = 0; round < 50; round += 1) {
      const from = round * 20_000;
      watch = failedReads(watch, from);
      const next = afterFreshAnswer(watch, false, from + 15_000, BOUNDS);
      expect([next.renew, next.watch.beyondHelp]).toEqual([false, false]);
      watch = next.watch;
    }
  });

  it('is renewed twice when the store answers others, and then counts as unusable', () => {
    let watch = fresh;
    for (const [round, beyondHelp] of [false, false, true, true].entries()) {
      const from = round * 20_000;
      watch = failedReads(watch, from);
      const next = afterFreshAnswer(watch, true, from + 15_000, BOUNDS);
      expect([next.renew, next.watch.beyondHelp]).toEqual([true, beyondHelp]);
      watch = next.watch;
    }
    expect(calls(watch, 'append', true, 90_000).beyondHelp).toBe(true);
    expect(calls(watch, 'read', true, 90_000)).toMatchObject({ beyondHelp: false, renewals: { read: 0 } });
  });

  it('that got an answer during the comparison is kept', () => {
    const answered = calls(failedReads(fresh, 0), 'read', true, 15_500);
    expect(afterFreshAnswer(answered, true, 16_000, BOUNDS)).toEqual({ watch: answered, renew: false });
  });

  it('is kept after an outage that failed reads and appends, when the reads are answered again', () => {
    const outage = calls(failedReads(fresh, 0), 'append', false, 1_000, 2_000, 3_000);
    expect(due(calls(outage, 'read', true, 20_000), 20_001, BOUNDS)).toBe('nothing');
    // A single failed read is no outage.
    const appends = calls(calls(fresh, 'append', false, 1_000, 2_000, 3_000), 'read', false, 4_000);
    expect(due(calls(appends, 'read', true, 20_000), 20_001, BOUNDS)).toBe('ask afresh');
  });

  it('is renewed less and less often when only appends fail, and then never counts as unusable', () => {
    let watch = fresh;
    let now = 0;
    const pauses: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      watch = calls(watch, 'append', false, now, now + 1, now + 2);
      const began = now;
      while (due(calls(watch, 'read', true, now), now, BOUNDS) !== 'ask afresh') now += 1_000;
      pauses.push(now - began);
      const next = afterFreshAnswer(watch, true, now, BOUNDS);
      expect([next.renew, next.watch.beyondHelp]).toEqual([true, false]);
      watch = next.watch;
    }
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 480, 480].map((seconds) => seconds * 1_000));
  });
});
