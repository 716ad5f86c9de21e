import { describe, expect, it } from '@jest/globals';
import { DELIVERY_STATUSES } from '../../contracts/deliveries.js';
import {
  DELIVERY_TRANSITIONS,
  eventOutcome,
  initialStatus,
  nextStatus,
  transitionAfterFailure,
  type DeliveryTransition,
} from './delivery-state.js';

const TRANSITIONS = Object.keys(DELIVERY_TRANSITIONS) as DeliveryTransition[];

describe('A new delivery', () => {
  it('is pending, or skipped when its endpoint is disabled or deleted', () => {
    expect(initialStatus(true)).toBe('pending');
    expect(initialStatus(false)).toBe('skipped');
  });
});

describe('A pending delivery', () => {
  it.each([
    ['succeed', 'succeeded'],
    ['retry', 'pending'],
    ['exhaust', 'exhausted'],
    ['skip', 'skipped'],
  ] as const)('on %s is %s', (transition, status) => expect(nextStatus('pending', transition)).toBe(status));

  it('is retried after a failure while the schedule has a back-off, and is exhausted after that', () => {
    expect(transitionAfterFailure(0)).toBe('retry');
    expect(transitionAfterFailure(5_000)).toBe('retry');
    expect(transitionAfterFailure(null)).toBe('exhaust');
  });
});

describe('A settled delivery', () => {
  const settled = DELIVERY_STATUSES.filter((status) => status !== 'pending');
  it.each(settled.flatMap((status) => TRANSITIONS.map((transition) => [status, transition] as const)))(
    'that is %s stays so on %s',
    (status, transition) => expect(nextStatus(status, transition)).toBe(status),
  );
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
