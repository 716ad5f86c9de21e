import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { isCauseOfRefunds, isDocumentRefund } from '../../audit/corrections/document-refunds.js';
import { correctionEvents } from '../../contracts/corrections.js';
import { operatorsEvents } from '../../contracts/operators.js';
import { isBefore, REGISTER } from '../../signed-streams.js';

/**
 * What decides whether two operators signed the corrections of a book: the entries, the operators, and the corrections
 * that the entries name, in the order of the log.
 * @param entries the `CreditsAdjusted` of the book
 */
export const signedFor = async (
  store: Pick<EventStore, 'read'>,
  entries: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> => {
  if (entries.length === 0) return [];
  const ids = entries.map(({ data }) => (data as { correctionId?: unknown } | null)?.correctionId);
  const streams = [...new Set(ids)].flatMap((id) =>
    typeof id === 'string' ? [streamName(correctionEvents.category, id)] : [],
  );
  const events: StoredEvent[] = [];
  for (const stream of [streamName(operatorsEvents.category, REGISTER), ...streams])
    for await (const event of store.read(stream)) events.push(event);
  return inOrder([...events, ...(await withCauses(store, entries))]);
};

/**
 * Adds what the refunds of documents among them follow from: captures of their books, and publications of their readings.
 * @param events that concern corrections, in the order of the log
 */
export const withCauses = async (
  store: Pick<EventStore, 'read'>,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> => {
  const refunds = events.filter(isDocumentRefund);
  if (refunds.length === 0) return events;
  const named = new Set<unknown>();
  const streams = new Set<string>();
  for (const { stream, data } of refunds) {
    const { reversesEventId, reference } = data as Record<string, unknown>;
    named.add(reversesEventId);
    streams.add(stream);
    if (typeof reference === 'string' && reference !== '')
      streams.add(streamName(publicationEvents.category, reference));
  }
  const causes: StoredEvent[] = [];
  for (const stream of streams)
    for await (const event of store.read(stream))
      if (isCauseOfRefunds(event) && (event.type !== 'CreditsCaptured' || named.has(event.id)))
        causes.push(event);
  return inOrder([...causes, ...events]);
};

/** Where only times are known, what stands first in the list stays first at the same millisecond. */
const inOrder = (events: readonly StoredEvent[]): readonly StoredEvent[] =>
  events.toSorted((one, other) => Number(isBefore(other, one)) - Number(isBefore(one, other)));
