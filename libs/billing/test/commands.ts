import fc from 'fast-check';
import { PACK_IDS, PLAN_IDS } from '../src/contracts/catalogue.js';
import type { CreditsCommand } from '../src/domain/credits.decider.js';
import { adjustment } from './adjustment.js';
import { at } from './events.js';

const HOUR = 3_600_000;
type Untimed = CreditsCommand extends infer C ? (C extends CreditsCommand ? Omit<C, 'now'> : never) : never;

const actor = fc.constant('operator:ada');
const reservationId = fc.integer({ min: 1, max: 12 }).map((number) => `r${number}`);
const reservations = (most: number) =>
  fc.uniqueArray(
    reservationId.map((id) => ({ reservationId: id, readingId: `reading-${id}` })),
    { minLength: 1, maxLength: most, selector: ({ reservationId: id }) => id },
  );
const settlement = fc.record({
  type: fc.constantFrom('CaptureCredits' as const, 'ReleaseCredits' as const),
  reservationId,
  causeEventId: fc.constant('cause'),
});
const untimed: fc.Arbitrary<Untimed> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('ReserveCredits' as const),
      reservations: fc.oneof(
        { weight: 3, arbitrary: reservations(1) },
        { weight: 1, arbitrary: reservations(5) },
      ),
      amount: fc.integer({ min: 1, max: 120 }),
      all: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: settlement },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('PurchasePack' as const),
      pack: fc.constantFrom(...PACK_IDS),
      orderRef: fc.integer({ min: 1, max: 5 }).map((number) => `o${number}`),
      actor,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('SubscribeToPlan' as const),
      plan: fc.constantFrom(...PLAN_IDS),
      approvalRef: fc.constantFrom(null, 'approval'),
      actor,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('CancelSubscription' as const), actor }) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        adjustmentId: fc.integer({ min: 1, max: 6 }).map((number) => `a${number}`),
        amount: fc.integer({ min: -200, max: 200 }).filter((amount) => amount !== 0),
      })
      .map(adjustment),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('RecordDue' as const) }) },
);

/** Commands of one book, hours to months apart. Occasionally a clock is behind. */
export const commands: fc.Arbitrary<CreditsCommand[]> = fc
  .array(
    fc.tuple(
      untimed,
      fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 48 }) },
        { weight: 2, arbitrary: fc.integer({ min: 24 * 10, max: 24 * 70 }) },
        { weight: 1, arbitrary: fc.integer({ min: -48, max: -1 }) },
      ),
    ),
    { maxLength: 40 },
  )
  .map((steps) => {
    let now = at('2026-01-29T08:00:00.000Z');
    return steps.map(([command, hours]) => {
      now += hours * HOUR;
      return { ...command, now };
    });
  });
