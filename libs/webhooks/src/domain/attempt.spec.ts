import { describe, expect, it } from '@jest/globals';
import {
  disablement,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  pauseAfterOwnFailure,
  retryPause,
} from './attempt.js';

const HOUR = 3_600_000;
const failure = { statusCode: 500, consecutiveFailures: 10, failingSince: 0, at: 120 * HOUR };

describe('An endpoint that fails', () => {
  it('is disabled after 120 hours and ten failures in a row', () => {
    expect(disablement(failure, 120 * HOUR)).toBe('failing');
    expect(disablement({ ...failure, at: 120 * HOUR - 1 }, 120 * HOUR)).toBeNull();
    expect(disablement({ ...failure, consecutiveFailures: 9 }, 120 * HOUR)).toBeNull();
  });
});

const schedule = [0, 5_000, 300_000];

describe('The pause before a retry', () => {
  it('is that of the schedule, within 20 %', () => {
    const pauses = Array.from({ length: 500 }, (_, index) =>
      retryPause(schedule, `delivery-${index}`, 1, null)!,
    );
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(4_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(6_000);
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(1_500);
  });

  it('ends with the schedule', () => {
    expect(retryPause(schedule, 'd', 2, null)).not.toBeNull();
    expect(retryPause(schedule, 'd', 3, null)).toBeNull();
    expect(retryPause(schedule, 'd', 3, 60_000)).toBeNull();
  });

  it('is lengthened by Retry-After, to 24 hours at most, and never shortened', () => {
    const scheduled = retryPause(schedule, 'd', 1, null);
    expect(retryPause(schedule, 'd', 1, 60_000)).toBe(60_000);
    expect(retryPause(schedule, 'd', 1, 1)).toBe(scheduled);
    expect(retryPause(schedule, 'd', 1, Number.MAX_VALUE)).toBe(MAX_RETRY_AFTER_MS);
  });
});

describe('The pause after a failure of our own', () => {
  it('is five minutes at least after the end of a short schedule', () => {
    expect(pauseAfterOwnFailure([0], 'd', 1)).toBe(300_000);
    expect(pauseAfterOwnFailure([0, 5_000], 'd', 2)).toBe(300_000);
    expect(pauseAfterOwnFailure([0, 86_400_000], 'd', 2)).toBeGreaterThan(60_000_000);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-04-04T09:30:00Z');
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 04 Apr 2026 09:31:00 GMT', 60_000],
    ['Saturday, 04-Apr-26 09:31:00 GMT', 60_000],
    ['Sat Apr  4 09:31:00 2026', 60_000],
    ['Sat, 04 Apr 2026 09:00:00 GMT', 0],
    ['1.5', null],
    ['9'.repeat(16), null],
    ['soon', null],
  ])('"%s" means %p milliseconds', (field, milliseconds) =>
    expect(parseRetryAfter([field], now)).toBe(milliseconds),
  );

  it('sent several times asks for the longest pause of those that can be read', () => {
    expect(parseRetryAfter(['60', 'Sat, 04 Apr 2026 09:32:00 GMT', 'soon'], now)).toBe(120_000);
    expect(parseRetryAfter([], now)).toBeNull();
  });
});
