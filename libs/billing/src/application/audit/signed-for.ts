import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
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
  const events = [...entries];
  for (const stream of [streamName(operatorsEvents.category, REGISTER), ...streams])
    for await (const event of store.read(stream)) events.push(event);
  return events.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
};
