import { describe, expect, it } from '@jest/globals';
import { askedOutcome, testOutcomeOf } from './test-outcome.js';

describe('The outcome that a test reading asks for', () => {
  it.each([
    ['failed:generation_failed', { kind: 'failed', code: 'generation_failed' }],
    ['delayed', { kind: 'waiting', forMs: 5_000, announced: true }],
    ['slow:1', { kind: 'waiting', forMs: 1_000, announced: false }],
    ['publication_late:7', { kind: 'publication_late', byMs: 7_000 }],
    ['webhook_refused', { kind: 'webhook_refused', attempts: null }],
    ['webhook_refused:1', { kind: 'webhook_refused', attempts: 1 }],
    ['webhook_refused:5', { kind: 'webhook_refused', attempts: 5 }],
    ['insufficient_credits', { kind: 'refused', refusal: 'insufficient_credits' }],
  ])('%s', (value, outcome) => {
    expect(testOutcomeOf(value)).toEqual(outcome);
    expect(askedOutcome({ test_outcome: value })).toEqual(outcome);
  });

  it.each([
    '', 'failed', 'failed:', 'failed:ping', 'failed:toString', 'slow', 'slow:', 'slow:0', 'slow:61', 'slow:5s', 'slow:01',
    'slow: 5', 'slow:1:2', 'delayed:5', 'publication_late:90', 'unavailable:5', 'Delayed', 'completed',
    'webhook_refused:', 'webhook_refused:0', 'webhook_refused:6', 'webhook_refused:all', 'webhook_refused:05',
  ])('is none of them: %s', (value) => expect(testOutcomeOf(value)).toBeNull()); // prettier-ignore

  it('is none without metadata, and without the key', () => {
    expect(askedOutcome(undefined)).toBeNull();
    expect(askedOutcome({ outcome: 'delayed' })).toBeNull();
  });
});
