import { describe, expect, it } from '@jest/globals';
import { epochAt, startOf } from './epoch-keys.js';

const WEEK_MS = 604_800_000;
const at = (text: string): number => Date.parse(text);

describe('epochs', () => {
  it('of a week start on Monday, UTC, and are contiguous', () => {
    const epoch = epochAt(at('2026-11-22T13:45:10Z'), WEEK_MS, 0);
    expect(epoch).toEqual({
      id: '20261116T000000Z',
      startsAt: at('2026-11-16T00:00:00Z'),
      endsAt: at('2026-11-23T00:00:00Z'),
    });
    expect(epochAt(epoch.endsAt, WEEK_MS, epoch.endsAt).id).toBe('20261123T000000Z');
    expect(startOf(epoch.id)).toBe(epoch.startsAt);
  });

  it('never start before the previous one has ended, even if their length changes', () => {
    const ended = at('2026-11-18T10:00:00.250Z');
    const next = epochAt(at('2026-11-18T10:00:00.300Z'), WEEK_MS, ended);
    expect(next.id).toBe('20261118T100001Z');
    expect(next.endsAt).toBe(at('2026-11-23T00:00:00Z'));
    for (const length of [1_000, 1_500, 86_400_000, WEEK_MS]) {
      let before = epochAt(ended, length, 0);
      for (let step = 0; step < 50; step += 1) {
        const after = epochAt(before.endsAt + step * 7, length, before.endsAt);
        expect(after.startsAt).toBeGreaterThanOrEqual(before.endsAt);
        expect(after.endsAt).toBeGreaterThan(after.startsAt);
        expect(after.id).not.toBe(before.id);
        before = after;
      }
    }
  });

  it('have names that are neither ids of ENCRYPTION_KEYS nor paths', () => {
    for (const name of ['k1', '20261116t000000z', '../20261116T000000Z', '20261116T000000Z/..', ''])
      expect(startOf(name)).toBeNull();
  });
});
