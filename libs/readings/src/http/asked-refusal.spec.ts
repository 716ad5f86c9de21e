import { expect, it } from '@jest/globals';
import { askedRefusal } from './asked-refusal.js';

it.each(['insufficient_credits', 'rate_limited', 'unavailable', 'billing_misconfigured'])(
  'The refusal %s says that it was asked for, so that it alarms no operator',
  (outcome) => {
    expect(askedRefusal({ test_outcome: outcome }, 'test')?.options.isAsked).toBe(true);
  },
);
