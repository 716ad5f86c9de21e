import { z } from 'zod';
import { byWorkspace, event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';

/** Credits of a full test book. */
export const TEST_CREDITS = 10_000;

/**
 * Accounts of a test book. Each event moves credits from one to another (see `testPostings`), so their sum is always
 * zero. `filled` is negative: where the credits come from.
 */
export const TEST_ACCOUNTS = ['filled', 'available', 'held', 'consumed'] as const;
export type TestAccount = (typeof TEST_ACCOUNTS)[number];

const credits = z.int().positive();
const amount = z.int().nonnegative();
/** A calendar day in UTC. */
const day = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/);
const hold = z.strictObject({ reservationId: z.string(), readingId: z.string(), amount: credits });
const settled = z.strictObject({
  reservationId: z.string(),
  readingId: z.string(),
  amount: credits,
  causeEventId: z.string(),
});

/**
 * Stream `testbook-<workspaceId>`: the credit book of a workspace's test readings. Amounts are whole test credits. They
 * are never sold, have no value, and do not expire. Nothing of the live book (`credits-<workspaceId>`) is in it, and its
 * event types have names of their own.
 */
export const testBookEvents = eventCatalogue(byWorkspace('testbook'), {
  /**
   * The first reservation of a UTC day fills the book: available and held credits together are then TEST_CREDITS. The
   * first of all opens it. Carries the whole folded state, so earlier events need not be read.
   *
   * `amount`: credits that were added; 0 when none were missing. `available`, `consumed`: after them. `settled`:
   * reservations settled recently, in two generations. Repeating one of them must not hold credits again.
   */
  TestBookFilled: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      day,
      amount,
      available: amount,
      consumed: amount,
      openHolds: z.array(hold),
      settled: z.strictObject({ older: z.array(z.string()), newer: z.array(z.string()) }),
    }),
  ),
  TestCreditsReserved: event(1, hold),
  /** `causeEventId`: the ReadingCompleted of the test reading. */
  TestCreditsCaptured: event(1, settled),
  /** `causeEventId`: the ReadingFailed or ReadingAbandoned. */
  TestCreditsReleased: event(1, settled),
});

export type TestBookEvent = EventOf<typeof testBookEvents>;
export type TestBookEventOf<T extends TestBookEvent['type']> = Extract<TestBookEvent, { type: T }>;
export type TestHold = z.infer<typeof hold>;

/** Signed: negative leaves the account, positive enters it. The postings of an event sum to zero. */
export interface TestPosting {
  readonly account: TestAccount;
  readonly amount: number;
}

/** Whole test credits. filled = available + held + consumed. */
export interface TestBalance {
  readonly available: number;
  readonly held: number;
  readonly consumed: number;
  readonly filled: number;
}
