import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '@app/embedded-event-store/index.js';
import { requestedBy } from '@app/event-sourcing/core/request-context.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { recordQuarantine } from '@app/event-sourcing/quarantine/record-quarantine.js';
import { withQuarantines } from '@app/event-sourcing/quarantine/with-quarantines.js';
import { openEventStore, type EventStoreDb } from '@app/event-sourcing/store/eventstoredb.js';
import { addedToAppend } from '@app/event-sourcing/testing/tally.js';
import { decodedLog, encodedLog, type LogSource } from './log-source.js';
import { packEvents, unpackEvents } from './packed-events.js';

const ONLY = { categories: ['credits', 'reading'] };

let dataDir: string;
let server: EmbeddedEventStore;
let store: EventStoreDb;
let options: Parameters<typeof openEventStore>[0];

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'log-source-'));
  server = await startEmbeddedEventStore({ dataDir });
  options = { connectionString: server.connectionString, appendTimeoutMs: 60_000, readTimeoutMs: 60_000 };
  store = await openEventStore(options);
  for (let n = 0; n < 30; n += 1)
    for (const category of ['credits', 'publication', 'reading'])
      await store.append(
        `${category}-${n}`,
        'no_stream',
        [0, 1, 2].map((m) => addedToAppend(uuid(n, m), 'é€')),
      );
});

afterAll(async () => {
  await store.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

let ids = 0;
const uuid = (n: number, m: number): string =>
  `00000000-0000-4000-8000-${String((ids += 1) * 10_000 + n * 10 + m).padStart(12, '0')}`;

const eventsOf = async <E>(source: LogSource<E>, after: bigint | null): Promise<E[]> => {
  const events: E[] = [];
  for await (const page of source.pages(after)) events.push(...page);
  return events;
};

/** As another thread receives them. */
const handedOver = async (after: bigint | null): Promise<StoredEvent[]> => {
  const source = encodedLog(options, ONLY);
  const packed = packEvents(await eventsOf(source, after));
  await source.close();
  return unpackEvents(structuredClone(packed, { transfer: [packed.bytes.buffer] }));
};

it('Another thread receives the events that this one would read, with their quarantine', async () => {
  const whole = await eventsOf(decodedLog(store, ONLY), null);
  expect(whole).toHaveLength(180);
  expect(await handedOver(null)).toEqual(whole);
  expect(await handedOver(whole[99]!.position)).toEqual(whole.slice(100));

  const { id: eventId, type: eventType, stream, revision } = whole[70]!;
  const found = { stream, revision: String(revision), eventId, eventType };
  const data = { ...found, cause: 'unknown', consumers: null, reason: 'INC-42', until: null };
  const by = requestedBy('operator:ada', 'ops_1');
  await recordQuarantine(store, { type: 'EventQuarantined', data }, by);
  const marked = await eventsOf(decodedLog(withQuarantines(store), ONLY), null);
  expect(marked[70]).toMatchObject({ stream, quarantine: { reason: 'INC-42' } });
  expect(marked.filter(({ quarantine }) => quarantine)).toHaveLength(1);
  expect(await handedOver(null)).toEqual(marked);
});
