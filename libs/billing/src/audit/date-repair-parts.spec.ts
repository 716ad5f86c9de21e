import { expect, it } from '@jest/globals';
import type { DateAdjustment, DatePlan } from '../contracts/date-repair.js';
import { withoutProposed } from './date-repair-parts.js';

type Group = readonly [reversesEventId: string, entries: number];

const adjustments = (groups: readonly Group[]) =>
  groups.flatMap(([reversesEventId, entries]) =>
    Array.from({ length: entries }, (_, index): DateAdjustment => ({
      reference: `clock:${reversesEventId}:${index}`,
      reversesEventId,
      cause: 'a clock was wrong',
      amount: index % 2 === 0 ? 10 : -10,
      grantId: null,
      expiresAt: null,
      notBefore: null,
    })),
  );
const next = (maxCredits: number, groups: readonly Group[]) => {
  const plan: DatePlan = { workspaceId: 'ws_1', misdated: 1, adjustments: adjustments(groups), notes: [] };
  return withoutProposed(plan, [], maxCredits).next;
};

it.each([
  [
    'all of a small plan',
    1_000,
    [
      ['a', 2],
      ['b', 3],
    ],
    5,
  ],
  [
    '500 entries at most',
    10_000,
    [
      ['a', 1],
      ['b', 499],
      ['c', 1],
    ],
    500,
  ],
  [
    'no part of what reverses one entry',
    10_000,
    [
      ['a', 499],
      ['b', 2],
    ],
    499,
  ],
  [
    'an entry that has more by itself',
    10_000,
    [
      ['a', 501],
      ['b', 1],
    ],
    501,
  ],
  [
    'no more credits than a correction may have',
    50,
    [
      ['a', 2],
      ['b', 3],
      ['c', 1],
    ],
    5,
  ],
  [
    'an entry above that limit by itself',
    10,
    [
      ['a', 2],
      ['b', 1],
    ],
    2,
  ],
  ['nothing of an empty plan', 10, [], 0],
] as const)('The next proposal has %s', (_, maxCredits, groups, expected) => {
  expect(next(maxCredits, groups)).toBe(expected);
});
