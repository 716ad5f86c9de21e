import { assertNever } from '#event-sourcing/core/decision.js';
import type { TestAccount, TestBookEvent, TestHold, TestPosting } from '../../contracts/test-book.js';
import { bucketMap, getFrom, withEntry, withoutEntry, type BucketMap } from '../credits/bucket-map.js';
import { isRecent, noRecentIds, recentFrom, remember, type RecentIds } from '../credits/recent-ids.js';

/** A test book, folded. `TestBookFilled` carries all of it. */
export interface TestBook {
  /** `null` until the first reservation opens the book. */
  readonly workspaceId: string | null;
  /** The UTC day (`yyyy-mm-dd`) of the last fill. */
  readonly day: string;
  readonly available: number;
  /** The sum of the open holds. */
  readonly held: number;
  readonly consumed: number;
  readonly holds: BucketMap<TestHold>;
  readonly settled: RecentIds;
}

export const noTestBook: TestBook = {
  workspaceId: null,
  day: '',
  available: 0,
  held: 0,
  consumed: 0,
  holds: bucketMap(),
  settled: noRecentIds,
};

export const testHoldOf = ({ holds }: TestBook, reservationId: string): TestHold | undefined =>
  getFrom(holds, reservationId);

export const isSettled = ({ settled }: TestBook, reservationId: string): boolean =>
  isRecent(settled, reservationId);

/** The book after an event. */
export const evolve = (book: TestBook, event: TestBookEvent): TestBook => {
  const { type, data } = event;
  switch (type) {
    case 'TestBookFilled': {
      const { workspaceId, day, available, consumed, openHolds } = data;
      return {
        workspaceId,
        day,
        available,
        held: openHolds.reduce((sum, { amount }) => sum + amount, 0),
        consumed,
        holds: bucketMap(openHolds.map((hold) => [hold.reservationId, hold])),
        settled: recentFrom(data.settled),
      };
    }
    case 'TestCreditsReserved':
      return {
        ...moved(book, event),
        holds: withEntry(book.holds, data.reservationId, data),
      };
    case 'TestCreditsCaptured':
    case 'TestCreditsReleased':
      return {
        ...moved(book, event),
        holds: withoutEntry(book.holds, data.reservationId),
        settled: remember(book.settled, data.reservationId),
      };
    default:
      return assertNever(type);
  }
};

/** Double entry: how an event moves test credits between accounts. The postings of every event sum to zero. */
export const testPostings = ({ type, data }: TestBookEvent): readonly TestPosting[] => {
  switch (type) {
    case 'TestBookFilled':
      return data.amount === 0 ? [] : move('filled', 'available', data.amount);
    case 'TestCreditsReserved':
      return move('available', 'held', data.amount);
    case 'TestCreditsCaptured':
      return move('held', 'consumed', data.amount);
    case 'TestCreditsReleased':
      return move('held', 'available', data.amount);
    default:
      return assertNever(type);
  }
};

const move = (from: TestAccount, to: TestAccount, amount: number): readonly TestPosting[] => [
  { account: from, amount: -amount },
  { account: to, amount },
];

const moved = (book: TestBook, event: TestBookEvent): TestBook => {
  const after = { ...book };
  for (const { account, amount } of testPostings(event)) if (account !== 'filled') after[account] += amount;
  return after;
};
