import type { Recorded } from '#event-sourcing/core/event.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/queries.js';
import { postings } from '../domain/credits/postings.js';
import { referenceOf } from './export-rows.js';
import { sentenceOf } from './unreadable-entry.js';

/** An event of a book as a row of a statement, with the balances after it. */
export const ledgerEntry = (
  event: Recorded<CreditsEvent>,
  { available, held }: { readonly available: number; readonly held: number },
): LedgerEntry => {
  const { data } = event;
  return {
    eventId: event.id,
    occurredAt: event.metadata.occurredAt,
    type: event.type,
    revision: event.revision,
    postings: postings(event),
    availableAfter: available,
    heldAfter: held,
    readingId: 'readingId' in data ? data.readingId : null,
    reservationId: 'reservationId' in data ? data.reservationId : null,
    reference: referenceOf(data),
    actor: 'actor' in data ? data.actor : event.metadata.actor,
    approvedBy: 'approvedBy' in data ? data.approvedBy : null,
    reason: 'reason' in data ? data.reason : null,
    priceCents: 'priceCents' in data ? data.priceCents : null,
  };
};

/** An entry that moves nothing, because it cannot be read or is set aside. */
export const opaqueEntry = (
  entry: UnreadableEntry,
  { available, held }: { readonly available: number; readonly held: number },
): LedgerEntry => ({
  eventId: entry.eventId,
  occurredAt: entry.occurredAt,
  type: entry.type,
  revision: entry.revision,
  postings: [],
  availableAfter: available,
  heldAfter: held,
  readingId: null,
  reservationId: null,
  reference: null,
  actor: '',
  approvedBy: null,
  reason: null,
  priceCents: null,
  unreadable: sentenceOf(entry),
});
