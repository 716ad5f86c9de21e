import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import {
  testBookEvents,
  type TestAccount,
  type TestBalance,
  type TestPosting,
} from '../contracts/test-book.js';
import type { TestLedgerEntry, TestStatement } from '../contracts/test-book-audit.js';
import { testPostings } from '../domain/test-book/test-book.state.js';
import { sentenceOf, unreadableEntry } from './unreadable-entry.js';

/**
 * The statement of a test book, or of one month of it: an entry is of the month of its date.
 * @param period `yyyy-mm`; `null`: everything
 */
export const testStatementOf = async (
  workspaceId: string,
  period: string | null,
  stored: AsyncIterable<StoredEvent>,
): Promise<TestStatement | null> => {
  const sums: Record<TestAccount, number> = { filled: 0, available: 0, held: 0, consumed: 0 };
  const balance = (): TestBalance => ({ ...sums, filled: 0 - sums.filled });
  const entries: TestLedgerEntry[] = [];
  let opening: TestBalance | null = null;
  let closing = balance();
  for await (const one of stored) {
    const before = balance();
    const entry = entryOf(one, sums);
    if (period !== null && !entry.occurredAt.startsWith(period)) continue;
    opening ??= before;
    closing = balance();
    entries.push(entry);
  }
  return opening && { workspaceId, period, opening, closing, entries };
};

/** Moves the sums. */
const entryOf = (stored: StoredEvent, sums: Record<TestAccount, number>): TestLedgerEntry => {
  const event = decodeOrShow(testBookEvents, stored);
  const postings: readonly TestPosting[] = isOpaque(event) ? [] : testPostings(event);
  for (const { account, amount } of postings) sums[account] += amount;
  const about = isOpaque(event) || event.type === 'TestBookFilled' ? null : event.data;
  return {
    eventId: stored.id,
    occurredAt: stored.metadata.occurredAt,
    type: stored.type,
    revision: stored.revision,
    postings,
    availableAfter: sums.available,
    heldAfter: sums.held,
    readingId: about?.readingId ?? null,
    reservationId: about?.reservationId ?? null,
    actor: stored.metadata.actor,
    ...(isOpaque(event) && { unreadable: sentenceOf(unreadableEntry(event)) }),
  };
};
