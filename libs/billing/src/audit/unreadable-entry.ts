import { decodeOrShow, isOpaque, type OpaqueEvent } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import { creditsEvents, type CreditsEvent } from '../contracts/events.js';

/** How every report reads a book: quarantines are honoured, and what cannot be read is shown and moves nothing. */
export const bookEvent = (stored: StoredEvent): Recorded<CreditsEvent> | OpaqueEvent =>
  decodeOrShow(creditsEvents, stored);

export const unreadableEntry = ({ stored, problem, quarantine }: OpaqueEvent): UnreadableEntry => ({
  stream: stored.stream,
  revision: stored.revision,
  eventId: stored.id,
  type: stored.type,
  occurredAt: stored.metadata.occurredAt,
  problem,
  quarantine: quarantine && { by: quarantine.by, at: quarantine.at, reason: quarantine.reason },
});

/** What a report says of it: passed over by decision, or a finding. */
export const sentenceOf = ({ quarantine, problem }: UnreadableEntry): string =>
  quarantine
    ? `quarantined by ${quarantine.by}: ${quarantine.reason}`
    : `cannot be read: ${problem ?? 'unknown'}`;

/**
 * Whether a quarantine hides an entry that this program can read. `ops` makes none, because money would vanish. So
 * somebody appended the quarantine with the store's login, or an older program could not read the entry.
 */
export const isHidden = ({ problem, quarantine }: OpaqueEvent): boolean =>
  problem === null && quarantine !== null;

/** What an audit says of it. */
export const sentenceOfHidden = ({ stored, quarantine }: OpaqueEvent): string =>
  `${stored.type} can be read, but readers pass over it: quarantined by ${quarantine!.by}: ${quarantine!.reason}`;

export { isOpaque };
