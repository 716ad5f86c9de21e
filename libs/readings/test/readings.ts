import { randomUUID } from 'node:crypto';
import type { CommandBus } from '@nestjs/cqrs';
import type pg from 'pg';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import type { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { Digester } from '#platform/crypto/digest.js';
import type { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { AbandonReadingHandler } from '../src/application/erase-reading.js';
import { type ReadingRequest, RequestReadingHandler } from '../src/application/request-reading.js';
import { AbandonReading } from '../src/contracts/messages.js';
import type { RequestedData } from '../src/domain/reading.decider.js';
import { createReadingExecutor, type ReadingExecutor } from '../src/executors.js';
import { ReadingQuery } from '../src/read-models/reading.query.js';
import type { InMemoryKeys } from './in-memory-keys.js';

/** The body of a request. */
export const BODY = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  name: { firstNames: ['Camille'], middleNames: ['Marie'], lastNames: ['Laurent'] },
  dateOfBirth: '1990-06-15',
  grammaticalProfile: { subjectGender: 'Female' },
} as const;

/** What the event of a request holds. */
export const REQUEST: RequestedData = {
  workspaceId: 'ws_1',
  livemode: true,
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  asOf: '2026-09-29',
  sealedInput: 'c2VhbGVk',
  cost: 20,
  reservationId: 'r1',
};

/** The context of a command. @param at milliseconds since the epoch */
export const contextAt = (at: number, intent = 'request') => ({
  intent,
  by: requestedBy('apiKey:k', 'req_1'),
  workspaceId: 'ws_1',
  at,
});

/** Requests a reading on its stream. @param at milliseconds since the epoch */
export const requestReading = (
  executor: ReadingExecutor,
  readingId: string,
  at: number,
  changes: Partial<RequestedData> = {},
) =>
  executor.execute(readingId, { type: 'RequestReading', request: { ...REQUEST, ...changes } }, contextAt(at));

/** What a caller asks for. */
export const asked = (firstName: string): ReadingRequest => ({
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  input: {
    name: { firstNames: [firstName], middleNames: [], lastNames: ['Laurent'] },
    dateOfBirth: '1990-06-15',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
});

const clock = { now: () => Date.parse('2026-09-29T23:30:00.000Z') };

/** Fences the hold of a reading that was not accepted in time. */
export const fence = (store: InMemoryEventStore, readingId: string, reservationId: string) =>
  new AbandonReadingHandler(createReadingExecutor(store), clock).execute(
    new AbandonReading(readingId, 'ws_1', reservationId, true, 'orphaned'),
  );

/** A handler of requests, with what it needs, without rows. @param execute the ledger */
export const requestHandler = (
  { store, keys: given }: { readonly store: InMemoryEventStore; readonly keys: InMemoryKeys },
  execute: (command: never) => Promise<unknown>,
  timeoutMs = 60_000,
) => {
  const readings = createReadingExecutor(store);
  const bus = { execute } as unknown as CommandBus;
  const keys = given as unknown as SubjectKeys;
  const digester = new Digester(Buffer.alloc(32, 7).toString('base64'));
  const query = new ReadingQuery({ query: async () => ({ rows: [] }) } as never, store, keys, digester);
  const config = { ENQUEUE_TIMEOUT_MS: timeoutMs };
  const handler = new RequestReadingHandler(readings, clock, config, bus, digester, keys, query);
  return { readings, clock, bus, digester, keys, handler };
};

/** Writes the row of a reading. @returns its id */
export const insertReading = async (
  pool: pg.Pool,
  columns: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const row = {
    reading_id: randomUUID(),
    workspace_id: 'ws_1',
    status: 'completed',
    product_id: 'theme',
    profile_id: 'evan',
    locale: 'fr-FR',
    sealed_input: '',
    created_at: new Date(),
    updated_at: new Date(),
    correlation_id: 'req_1',
    ...columns,
  };
  const names = Object.keys(row);
  await pool.query(
    `insert into readings.reading (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})
     on conflict (reading_id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    Object.values(row),
  );
  return row.reading_id;
};
