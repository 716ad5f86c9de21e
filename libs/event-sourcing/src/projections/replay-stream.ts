import { decodeAny } from '../core/event-catalogue.js';
import { isSetAside, type Recorded, type StoredEvent } from '../core/event.js';
import { streamId, streamName } from '../core/stream-name.js';
import { holdCheckpoint, intervene, transaction } from './checkpoint.js';
import { parkedStreams } from './parked-streams.js';
import { categoriesOf, checkpointOf, type Projection } from './projection.js';
import { runSteps } from './statement.js';
import { foldRows, removeRows, type RowKey } from './view.js';
import { mergedStreams } from '../store/events-up-to.js';
import { Refused, type Workshop } from './rebuild.js';

const BATCH = 1_000;

/**
 * Rebuilds the rows of one stream id in one transaction, from its streams in every category that the projection
 * follows. Unparks these streams: the effects of the events that waited run first, in order. Other events have had
 * theirs. What another consumer has parked (`keptBy`) stays parked, since its own effects are still due.
 * @returns the streams, and the number of events handled, up to the live view's position
 * @throws Refused when the projection does not follow the stream, or the stream does not exist; and what an effect throws:
 *   the streams then stay parked
 */
export const replayStream = async (
  { pool, store }: Workshop,
  projection: Projection,
  stream: string,
): Promise<{ streams: readonly string[]; events: number }> => {
  const streams = categoriesOf(projection).map((category) => streamName(category, streamId(stream)));
  if (!streams.includes(stream))
    throw new Refused([
      `${projection.name} follows ${categoriesOf(projection).join(' and ')} streams, not ${stream}.`,
    ]);
  return transaction(pool, async (client) => {
    const name = checkpointOf(projection);
    const held = await holdCheckpoint(client, name);
    const waiting = new Map(
      (await parkedStreams(client, projection.name)).map(({ stream: parked, position }) => [
        parked,
        position,
      ]),
    );
    const hasWaited = (event: Recorded): boolean => event.position >= (waiting.get(event.stream) ?? Infinity);
    const seen = new Map(projection.views.map((view) => [view, new Set<string>()]));
    let handled = 0;
    const followed = mergedStreams(
      store,
      streams.map((one) => ({ stream: one })),
      held?.position ?? 0n,
    );
    for await (const events of inBatches(followed)) {
      const decoded = events
        .filter((event) => !isSetAside(event, name))
        .map((event) => decodeAny(projection.catalogues, event))
        .filter((event): event is Recorded => event !== null);
      await runSteps(
        client,
        decoded.filter(hasWaited).flatMap((event) => projection.effects?.(event) ?? []),
      );
      for (const view of projection.views) {
        const known = seen.get(view)!;
        const stale = decoded.flatMap((event): RowKey[] => {
          const key = view.keyOf(event);
          const id = JSON.stringify(key);
          if (key === null || known.has(id)) return [];
          known.add(id);
          return [key];
        });
        await removeRows(client, view, view.table, stale);
        await foldRows(client, { view, table: view.table, events: decoded });
      }
      handled += events.length;
    }
    if (handled === 0) throw new Refused([`There is no stream ${stream}.`]);
    await client.query('delete from event_sourcing.parked_stream where consumer = $1 and stream = any ($2)', [
      projection.name,
      streams,
    ]);
    await intervene(client, name);
    return { streams, events: handled };
  });
};

async function* inBatches(events: AsyncIterable<StoredEvent>): AsyncGenerator<StoredEvent[]> {
  let batch: StoredEvent[] = [];
  for await (const event of events) {
    batch.push(event);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
