import type { Command } from 'commander';
import { bookStream } from '#billing/contracts/index.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';
import { ListDeliveriesOfReading, type DeliveryOfReading } from '#webhooks/contracts/index.js';
import { type Columns, OpsError, print, tableOf } from '../output.js';
import { withSession, type Session } from '../session.js';

/** Everything that happened to one reading, across modules. */
const addEventsCommand = (events: Command): void => {
  events
    .requiredOption('--reading <id>', 'every event about this reading, in all modules, and its deliveries')
    .addHelpText('after', '\nExample:\n  ops events --reading 7f9c24e8-…')
    .action(async ({ reading }: { reading: string }, command: Command) => {
      const { events, deliveries } = await withSession((session) => aboutReading(session, reading));
      if (events.length === 0) throw new OpsError(`There is no event of ${reading}.`);
      const story = tellStory(events);
      const tables = [
        tableOf(story, STORY_COLUMNS),
        ...(deliveries.length > 0 ? ['', tableOf(deliveries, DELIVERY_COLUMNS)] : []),
      ];
      print(command, { events: story, deliveries }, tables);
    });
};

/** Credits are reserved at most this long before a reading is requested (ms). */
const RESERVED_BEFORE_MS = 300_000;

/** Every event about a reading, across modules, and its webhook deliveries. Empty: there is no such reading. */
export const aboutReading = async (
  { store, queries }: Pick<Session, 'store' | 'queries'>,
  readingId: string,
): Promise<{ events: readonly StoredEvent[]; deliveries: readonly DeliveryOfReading[] }> => {
  const events = await ofReading(store, readingId);
  if (events.length === 0) return { events, deliveries: [] };
  return { events, deliveries: await queries.execute(new ListDeliveriesOfReading(readingId)) };
};

/** The reading's two streams, and the events of its workspace's live and test book that name it or its reservation. */
const ofReading = async (store: EventStore, readingId: string): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  for (const category of [readingEvents.category, publicationEvents.category])
    for await (const event of store.read(streamName(category, readingId))) found.push(event);
  const first = found[0];
  if (!first) return [];
  const since = Date.parse(first.metadata.occurredAt) - RESERVED_BEFORE_MS;
  const reservations = new Set(found.map(({ data }) => (data as { reservationId?: string }).reservationId));
  for (const livemode of [true, false]) {
    const book = bookStream(first.metadata.workspaceId, livemode);
    for await (const event of store.read(book, { direction: 'backwards' })) {
      if (Date.parse(event.metadata.occurredAt) < since) break;
      const about = event.data as { readingId?: string; reservationId?: string };
      if (about.readingId === readingId || (about.reservationId && reservations.has(about.reservationId)))
        found.push(event);
    }
  }
  return found;
};

/** An event of a story, with its cause. */
export interface Chapter {
  readonly position: bigint;
  readonly occurredAt: string;
  /** Time since the first event of the story. */
  readonly afterMs: number;
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  readonly eventId: string;
  readonly actor: string;
  readonly correlationId: string;
  /** An event of the story, or another recorded cause: a request, a command, an event outside the story. */
  readonly cause: { readonly id: string; readonly type: string | null; readonly stream: string | null };
}

/** The events in log order without duplicates, each with its cause looked up among them. */
export const tellStory = (events: readonly StoredEvent[]): readonly Chapter[] => {
  const byId = new Map(events.map((event) => [event.id, event]));
  const ordered = [...byId.values()].sort((one, other) => (one.position < other.position ? -1 : 1));
  const startedAt = Date.parse(ordered[0]?.metadata.occurredAt ?? '');
  return ordered.map(({ id: eventId, stream, revision, position, type, metadata }) => {
    const { occurredAt, actor, correlationId, causationId } = metadata;
    const cause = byId.get(causationId);
    return {
      position,
      occurredAt,
      afterMs: Date.parse(occurredAt) - startedAt,
      stream,
      revision,
      type,
      eventId,
      actor,
      correlationId,
      cause: { id: causationId, type: cause?.type ?? null, stream: cause?.stream ?? null },
    };
  });
};

export const STORY_COLUMNS: Columns<Chapter> = {
  at: 'occurredAt',
  'after ms': 'afterMs',
  event: ({ stream, revision }) => `${stream}@${revision}`,
  type: 'type',
  by: ({ actor }) => actor || 'unknown',
  'caused by': ({ cause }) => cause.type ?? (cause.id || 'unknown'),
};

export const DELIVERY_COLUMNS: Columns<DeliveryOfReading> = {
  'delivered at': 'settledAt',
  webhook: 'eventType',
  endpoint: 'endpointId',
  status: 'status',
  attempts: 'attempts',
};

/** `apiKey:Ab3d` is shown as `apiKey`. */
export const kindOf = (actor: string): string => actor.split(':')[0] || 'unknown';

export const commands = { events: addEventsCommand };
