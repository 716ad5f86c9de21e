import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import { creditsEvents, type CreditsEvent } from '../contracts/events.js';

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
export const sentenceOf = ({ setAside, problem }: UnreadableEntry): string =>
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
