import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import type { UnreadableEntry } from '../contracts/audit.js';
import { creditsEvents, type CreditsEvent } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/messages.js';
import { postings } from '../domain/postings.js';

/** How every report reads a book: what is set aside is passed over, and what cannot be read is shown and moves nothing. */
export const bookEvent = (stored: StoredEvent): Recorded<CreditsEvent> | OpaqueEvent =>
  decodeOrShow(creditsEvents, stored);

export const unreadableEntry = ({ stored, problem, setAside }: OpaqueEvent): UnreadableEntry => ({
  stream: stored.stream,
  revision: stored.revision,
  eventId: stored.id,
  type: stored.type,
  occurredAt: stored.metadata.occurredAt,
  problem,
  setAside: setAside && { by: setAside.by, at: setAside.at, reason: setAside.reason },
});

/** What a report says of it: passed over by decision, or a finding. */
export const sentenceOf = ({ setAside, problem }: Pick<UnreadableEntry, 'setAside' | 'problem'>): string =>
  setAside ? `set aside by ${setAside.by}: ${setAside.reason}` : `cannot be read: ${problem ?? 'unknown'}`;

/**
 * Whether a decision hides an entry that this program can read. `ops` makes none, because money would vanish. So
 * somebody appended it with the store's login, or an older program could not read the entry.
 */
export const isHidden = ({ problem, setAside }: OpaqueEvent): boolean =>
  problem === null && setAside !== null;

/** What an audit says of it. */
export const sentenceOfHidden = ({ stored, setAside }: OpaqueEvent): string =>
  `${stored.type} can be read, but readers pass over it: set aside by ${setAside!.by}: ${setAside!.reason}`;

export { isOpaque };

/**
 * Whether the store recorded the event before the date that its writer gave it.
 * @param boundMs CLOCK_REFUSE_MS: by this much, two clocks may differ
 */
export const isContradicted = (
  { metadata, recordedAt }: Pick<StoredEvent, 'metadata' | 'recordedAt'>,
  boundMs: number,
): boolean => recordedAt !== undefined && Date.parse(metadata.occurredAt) > recordedAt + boundMs;

/**
 * When the event happened (ms): by its date, or by its record time if that contradicts the date.
 * @param boundMs CLOCK_REFUSE_MS
 */
export const timeOf = (event: Pick<StoredEvent, 'metadata' | 'recordedAt'>, boundMs: number): number =>
  isContradicted(event, boundMs) ? event.recordedAt! : Date.parse(event.metadata.occurredAt);

/** An event of a book as a row of a statement, with the balances after it. */
export const ledgerEntry = (
  event: Recorded<CreditsEvent>,
  { available, held }: { readonly available: number; readonly held: number },
): LedgerEntry => {
  const { readingId, reservationId, reference, actor, approvedBy, reason } = factsOf(event.data);
  return {
    eventId: event.id,
    occurredAt: event.metadata.occurredAt,
    type: event.type,
    revision: event.revision,
    postings: postings(event),
    availableAfter: available,
    heldAfter: held,
    ...{ readingId, reservationId, reference, approvedBy, reason },
    actor: actor ?? event.metadata.actor,
    priceCents: 'priceCents' in event.data ? event.data.priceCents : null,
  };
};

/** What statements, exports and searches say of an entry; `null`: it has none. */
export const factsOf = (data: CreditsEvent['data']) => ({
  readingId: 'readingId' in data ? data.readingId : null,
  reservationId: 'reservationId' in data ? data.reservationId : null,
  causeEventId: 'causeEventId' in data ? data.causeEventId : null,
  reason: 'reason' in data ? data.reason : null,
  approvedBy: 'approvedBy' in data ? data.approvedBy : null,
  reversesEventId: 'reversesEventId' in data ? data.reversesEventId : null,
  reference: referenceOf(data),
  actor: 'actor' in data ? data.actor : null,
});

/** An entry that moves nothing, because it cannot be read or is set aside. */
export const opaqueEntry = (
  { eventId, occurredAt, type, revision, ...entry }: UnreadableEntry,
  { available, held }: { readonly available: number; readonly held: number },
): LedgerEntry => ({
  ...{ eventId, occurredAt, type, revision, postings: [], availableAfter: available, heldAfter: held },
  ...{ readingId: null, reservationId: null, reference: null, actor: '', approvedBy: null, reason: null },
  priceCents: null,
  unreadable: sentenceOf(entry),
});

/** The order of a pack, the approval of a plan, or the reference of a correction. */
const referenceOf = (data: CreditsEvent['data']): string | null => {
  if ('orderRef' in data) return data.orderRef;
  if ('approvalRef' in data) return data.approvalRef;
  return 'reference' in data ? data.reference : null;
};
