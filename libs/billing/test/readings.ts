import { streamName } from '#event-sourcing/core/stream-name.js';
import type { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { READING_COST } from '../src/contracts/catalogue.js';
import { WS } from './book.js';

type Ended = 'ReadingCompleted' | 'ReadingFailed' | 'ReadingAbandoned';

const END_DATA: Readonly<Record<Ended, object>> = {
  ReadingCompleted: { attempt: 1, sealedResult: '' },
  ReadingFailed: { code: 'internal_error', attempts: 3 },
  ReadingAbandoned: { reason: 'no reading was requested in time' },
};

/** Writes the history of the reading `reading-<id>` on the reservation `<id>`. Its last event has the id `end-<id>`. */
export const writeReading = async (
  store: InMemoryEventStore,
  id: string,
  end: Ended,
  occurredAt = '2026-04-12T09:00:01.000Z',
  cost = READING_COST,
): Promise<void> => {
  const events = eventsOfReading(id, end, occurredAt, cost);
  await store.append(streamName('reading', `reading-${id}`), 'no_stream', events);
};

/** The events of a reading on the reservation `<id>`. The last one has the id `end-<id>`. */
export const eventsOfReading = (
  id: string,
  end: Ended,
  occurredAt = '2026-04-12T09:00:01.000Z',
  cost = READING_COST,
) => {
  const metadata = {
    actor: 'apiKey:k1',
    correlationId: 'c',
    causationId: 'c',
    workspaceId: WS,
    occurredAt,
    schemaVersion: 1,
  };
  const owned = { workspaceId: WS, livemode: true, reservationId: id };
  const requested = {
    id: `request-${id}`,
    type: 'ReadingRequested',
    data: {
      ...owned,
      productId: 'theme',
      profileId: 'evan',
      locale: 'fr-FR',
      asOf: '2026-04-12',
      sealedInput: '',
      cost,
    },
    metadata,
  };
  const ended = { id: `end-${id}`, type: end, data: { ...owned, ...END_DATA[end] }, metadata };
  return end === 'ReadingAbandoned' ? [ended] : [requested, ended];
};
