import fc from 'fast-check';
import type { TestBookCommand } from '../src/domain/test-book/test-book.commands.js';
import { NOON } from './test-book.js';

const HOUR = 3_600_000;
const reservationId = fc.integer({ min: 1, max: 12 }).map((number) => `r${number}`);
const untimed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('ReserveCredits' as const),
      workspaceId: fc.constant('ws_1'),
      reservationId,
      readingId: fc.constant('reading'),
      amount: fc.oneof(fc.constant(20), fc.integer({ min: 1, max: 6_000 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('CaptureCredits' as const, 'ReleaseCredits' as const),
      reservationId,
      causeEventId: fc.constant('cause'),
    }),
  },
);

/** Hours between two commands: mostly few, sometimes days, and sometimes a clock is behind or a month ahead. */
const step = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 14 }) },
  { weight: 1, arbitrary: fc.integer({ min: 24, max: 200 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -30 * 24, 30 * 24) },
);

/** Commands of one test book. They use the same reservation ids as the commands of live books. */
export const testCommands: fc.Arbitrary<TestBookCommand[]> = fc
  .array(fc.tuple(untimed, step), { maxLength: 40 })
  .map((steps) => {
    let now = NOON;
    return steps.map(([command, hours]) => {
      now += hours * HOUR;
      return { ...command, now };
    });
  });
