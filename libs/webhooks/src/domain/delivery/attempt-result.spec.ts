import { describe, expect, it } from '@jest/globals';
import { ATTEMPT_ERRORS, disablement, isOfReceiver, judgeStatus } from '../attempt.js';

const HOUR = 3_600_000;
const failure = { statusCode: 500, consecutiveFailures: 10, failingSince: 0, at: 120 * HOUR };

describe('An answer', () => {
  it.each([
    [200, null],
    [204, null],
    [299, null],
    [301, 'redirect_not_followed'],
    [304, 'redirect_not_followed'],
    [400, 'http_error'],
    [410, 'http_error'],
    [503, 'http_error'],
  ])('of %i counts as %p', (status, error) => expect(judgeStatus(status)).toBe(error));
});

describe('A failure', () => {
  it('says something about the receiver unless nothing left our side', () => {
    expect(ATTEMPT_ERRORS.filter((error) => !isOfReceiver(error))).toEqual(['asked_refusal', 'proxy_failed']);
  });
});

describe('An endpoint that fails', () => {
  it('is disabled after 120 hours and ten failures in a row', () => {
    expect(disablement(failure, 120 * HOUR)).toBe('failing');
    expect(disablement({ ...failure, at: 120 * HOUR - 1 }, 120 * HOUR)).toBeNull();
    expect(disablement({ ...failure, consecutiveFailures: 9 }, 120 * HOUR)).toBeNull();
  });

  it('is disabled at once when it answers 410', () => {
    expect(disablement({ statusCode: 410, consecutiveFailures: 1, failingSince: 5, at: 5 }, 120 * HOUR)).toBe(
      'gone',
    );
  });
});
