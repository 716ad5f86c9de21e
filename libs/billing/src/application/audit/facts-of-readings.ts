import { streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents } from '#readings/contracts/index.js';
import { ReconcilePart } from '../../audit/reconcile-part.js';
import type { ReadingFact } from '../../audit/settlements.js';
import { bookStream } from '../../contracts/events.js';

/**
 * The facts of some readings, from their own streams and from the books of the workspaces that completed them.
 * @param upTo position of the last event that counts
 * @param workspaceId only facts of this one; `null`: of all
 */
export const factsOfReadings = async (
  store: Pick<EventStore, 'read'>,
  readingIds: ReadonlySet<string>,
  upTo: bigint,
  workspaceId: string | null,
  livemode: boolean,
): Promise<readonly ReadingFact[]> => {
  const facts: ReadingFact[] = [];
  const part = new ReconcilePart(
    workspaceId,
    new Map(),
    (fact) => {
      if (readingIds.has(fact.readingId)) facts.push(fact);
    },
    livemode,
  );
  for (const readingId of readingIds)
    for await (const event of store.read(streamName(readingEvents.category, readingId)))
      if (event.position <= upTo) part.see(event);
  const workspaces = new Set(facts.flatMap((fact) => (fact.kind === 'completed' ? [fact.workspaceId] : [])));
  for (const workspace of workspaces)
    for await (const event of store.read(bookStream(workspace, livemode)))
      if (event.type === 'CreditsCaptured' && event.position <= upTo) part.see(event);
  return facts;
};
