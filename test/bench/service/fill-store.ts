import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { encode } from '#event-sourcing/core/event-catalogue.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { readingEvents } from '#readings/contracts/events.js';
import type { StartedStack } from '../../support/start-stack.js';

/** Streams written concurrently. */
const IN_FLIGHT = 256;
const WORKSPACE = 'ws_of_the_benchmark';

/**
 * Fills the stores with readings that failed long ago, by default of another workspace: their streams, rows and keys. The
 * worker must be stopped permanently, or it would start to process them.
 * @param template a reading whose row the new rows copy
 * @param days before it, over which they were created
 */
export const fillStore = async (
  stack: StartedStack,
  readings: number,
  template: string,
  { workspaceId = WORKSPACE, days = 0 } = {},
): Promise<void> => {
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 30_000,
    readTimeoutMs: 30_000,
  });
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  try {
    const ids = Array.from({ length: readings }, () => randomUUID());
    let next = 0;
    const writer = async (): Promise<void> => {
      for (let id = ids[next++]; id !== undefined; id = ids[next++])
        await store.append(...lifeOf(id, workspaceId));
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, writer));
    await database.query(
      `insert into readings.reading
       select (jsonb_populate_record(template, jsonb_build_object(
                'reading_id', id, 'workspace_id', $2::text,
                'created_at', template.created_at - make_interval(secs => $4 * place / $5::float8)))).*
       from unnest($1::uuid[]) with ordinality as given (id, place), readings.reading as template
       where template.reading_id = $3`,
      [ids, workspaceId, template, days * 86_400, readings],
    );
    await database.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key)
       select id, $2, wrapped_key from unnest($1::uuid[]) as id, platform.subject_key where subject_id = $3`,
      [ids, workspaceId, template],
    );
    // In a service, readings accumulate over weeks and autovacuum keeps up. Here it would run during the measurement.
    await database.query('vacuum (analyze) readings.reading, platform.subject_key');
    await database.query('checkpoint');
  } finally {
    await database.end();
    await store.close();
  }
};

/** The stream of a reading that was requested and failed. */
const lifeOf = (readingId: string, workspaceId: string): Parameters<EventStore['append']> => {
  const own = { workspaceId, livemode: true, reservationId: randomUUID() };
  const sealedInput = Buffer.alloc(240, 7).toString('base64');
  const happened = [
    {
      type: 'ReadingRequested',
      data: {
        ...own,
        productId: 'theme',
        profileId: 'evan',
        locale: 'fr-FR',
        asOf: '2026-01-01',
        sealedInput,
        cost: 20,
      },
    },
    { type: 'ReadingFailed', data: { ...own, code: 'generation_failed', attempts: 5 } },
  ];
  const context = { actor: 'system:benchmark', correlationId: readingId, causationId: readingId };
  const events = happened.map(({ type, data }) => {
    const encoded = encode(readingEvents, type, data);
    return {
      id: randomUUID(),
      type,
      data: encoded.data,
      metadata: {
        ...context,
        workspaceId,
        occurredAt: '2026-01-01T00:00:00.000Z',
        schemaVersion: encoded.version,
      },
    };
  });
  return [streamName(readingEvents.category, readingId), 'no_stream', events];
};
