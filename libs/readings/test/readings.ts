import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import type { RequestedData } from '../src/domain/reading.decider.js';
import type { ReadingExecutor } from '../src/executors.js';

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
