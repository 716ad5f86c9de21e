import type { StoredEvent } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { bookStream } from '#billing/contracts/index.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';
import { ListDeliveriesOfReading, type DeliveryOfReading } from '#webhooks/contracts/index.js';
import type { Session } from '../../session.js';

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
  const own: StoredEvent[] = [];
  for (const category of [readingEvents.category, publicationEvents.category])
    for await (const event of store.read(streamName(category, readingId))) own.push(event);
  const first = own[0];
  if (!first) return [];
  const since = Date.parse(first.metadata.occurredAt) - RESERVED_BEFORE_MS;
  const reservations = new Set(own.map(({ data }) => (data as { reservationId?: string }).reservationId));
  const credits: StoredEvent[] = [];
  for (const livemode of [true, false]) {
    const book = bookStream(first.metadata.workspaceId, livemode);
    for await (const event of store.read(book, { direction: 'backwards' })) {
      if (Date.parse(event.metadata.occurredAt) < since) break;
      const about = event.data as { readingId?: string; reservationId?: string };
      if (about.readingId === readingId || (about.reservationId && reservations.has(about.reservationId)))
        credits.push(event);
    }
  }
  return [...own, ...credits];
};
