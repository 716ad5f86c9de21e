import { decodeOrShow, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { creditsEvents, type Account, type CreditsEvent } from '../contracts/events.js';
import type { Balance } from '../contracts/queries.js';
import {
  testBookEvents,
  type TestAccount,
  type TestBalance,
  type TestBookEvent,
} from '../contracts/test-book.js';
import { postings } from '../domain/credits/postings.js';
import { testPostings } from '../domain/test-book/test-book.state.js';
import { bookEvent } from './unreadable-entry.js';

/** An event of a live or of a test book. */
export type BookEvent = CreditsEvent | TestBookEvent;

/** Signed: negative leaves the account, positive enters it. */
export interface BookPosting {
  readonly account: Account | TestAccount;
  readonly amount: number;
}

/** Credits by account: the sum of all postings so far. */
export type Sums = Partial<Record<Account | TestAccount, number>>;

/** How the books of one mode are reconciled. A reconciliation sees one kind of books, and the readings of its mode. */
export interface BookKind {
  readonly livemode: boolean;
  /** Of its streams. */
  readonly category: string;
  /** The process that captures: a reading that it passes over is not captured. */
  readonly settlement: string;
  /** The projection that keeps its balances. */
  readonly balanceView: string;
  /** How its events of reservations are called. */
  readonly types: Readonly<Record<'reserved' | 'captured' | 'released', BookEvent['type']>>;
  readonly entryOf: (stored: StoredEvent) => Recorded<BookEvent> | OpaqueEvent;
  readonly postings: (event: BookEvent) => readonly BookPosting[];
  /** As the columns of its balance view. */
  readonly balanceOf: (sums: Sums) => Balance | TestBalance;
}

export const LIVE_BOOKS: BookKind = {
  livemode: true,
  category: creditsEvents.category,
  settlement: 'billing.settlement.v1',
  balanceView: 'billing.balance.v1',
  types: { reserved: 'CreditsReserved', captured: 'CreditsCaptured', released: 'CreditsReleased' },
  entryOf: bookEvent,
  postings: (event) => postings(event as CreditsEvent),
  balanceOf: ({ available = 0, held = 0, consumed = 0, expired = 0, adjusted = 0, ...issued }) => ({
    available,
    held,
    consumed,
    expired,
    granted: 0 - (issued['issued:plan'] ?? 0) - (issued['issued:pack'] ?? 0),
    adjusted: 0 - adjusted,
  }),
};

export const TEST_BOOKS: BookKind = {
  livemode: false,
  category: testBookEvents.category,
  settlement: 'billing.test-settlement.v1',
  balanceView: 'billing.test-balance.v1',
  types: {
    reserved: 'TestCreditsReserved',
    captured: 'TestCreditsCaptured',
    released: 'TestCreditsReleased',
  },
  entryOf: (stored) => decodeOrShow(testBookEvents, stored),
  postings: (event) => testPostings(event as TestBookEvent),
  balanceOf: ({ available = 0, held = 0, consumed = 0, filled = 0 }) => ({
    available,
    held,
    consumed,
    filled: 0 - filled,
  }),
};

/** The kind of the books that a reading is charged to. */
export const booksOf = (livemode: boolean): BookKind => (livemode ? LIVE_BOOKS : TEST_BOOKS);
