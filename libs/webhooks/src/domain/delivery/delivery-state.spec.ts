import { describe, expect, it } from '@jest/globals';
import { STATUS_AFTER, eventOutcome, transitionAfterFailure } from '../attempt.js';

describe('A pending delivery', () => {
  it.each([
    ['succeed', 'succeeded'],
    ['retry', 'pending'],
    ['exhaust', 'exhausted'],
    ['skip', 'skipped'],
  ] as const)('on %s is %s', (transition, status) => expect(STATUS_AFTER[transition]).toBe(status));

  it('is retried after a failure while the schedule has a back-off, and is exhausted after that', () => {
    expect(transitionAfterFailure(0)).toBe('retry');
    expect(transitionAfterFailure(5_000)).toBe('retry');
    expect(transitionAfterFailure(null)).toBe('exhaust');
  });
});

describe('The outcome of an event at an endpoint', () => {
  it.each([
    [[], 'missing'],
    [['skipped'], 'skipped'],
    [['skipped', 'exhausted'], 'exhausted'],
    [['exhausted', 'succeeded', 'skipped'], 'succeeded'],
    [['succeeded', 'pending'], 'pending'],
  ] as const)('of %j is %s', (statuses, outcome) => expect(eventOutcome(statuses)).toBe(outcome));
});
