import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { CommandBus } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, ClockUntrusted } from '#event-sourcing/core/clock.js';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import type { EraseReading } from '../../contracts/commands.js';
import { LookAtTestReadings } from '../../contracts/queries.js';
import { LookAtTestReadingsHandler } from '../../read-models/reading/kept-test-readings.handler.js';
import { createReadingExecutor } from '../../reading.executor.js';
import { TestReadingSweep } from './test-reading-sweep.js';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const DAY_MS = 86_400_000;
const config = { TEST_DATA_KEPT_DAYS: 30, KEY_EPOCH_MS: 604_800_000 };
const never = new AbortController().signal;

let postgres: StartedPostgres;
let pool: pg.Pool;
let executor: ReturnType<typeof createReadingExecutor>;
let erased: EraseReading[];

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'sweep spec', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});
beforeEach(async () => {
  await pool.query('truncate readings.reading, platform.retention_round');
  executor = createReadingExecutor(new InMemoryEventStore());
  erased = [];
});

const sweep = (now: () => number = () => NOW): Promise<void> => {
  const commands = { execute: async (command: EraseReading) => void erased.push(command) };
  const clock = { now: async () => now() };
  return new TestReadingSweep(commands as unknown as CommandBus, executor, pool, clock, config).sweep(never);
};

/** A reading with a row of this age. */
const make = async (
  ageMs: number,
  given: { livemode?: boolean; rowSays?: boolean; erasedAt?: string } = {},
): Promise<string> => {
  const readingId = randomUUID();
  const { livemode = false, erasedAt = null } = given;
  const asked = { productId: 'theme', profileId: 'evan', locale: 'fr-FR', asOf: '2026-10-01' } as const;
  const request = {
    workspaceId: 'ws_1',
    livemode,
    ...asked,
    sealedInput: '',
    cost: 20,
    reservationId: readingId,
  };
  const context = {
    intent: 'request',
    by: requestedBy('apiKey:k', 'c'),
    workspaceId: 'ws_1',
    at: NOW - ageMs,
  };
  await executor.execute(readingId, { type: 'RequestReading', request }, context);
  await pool.query(
    `insert into readings.reading (reading_id, workspace_id, livemode, status, product_id, profile_id, locale, sealed_input,
                                   created_at, updated_at, correlation_id, erased_at)
     values ($1, 'ws_1', $2, 'completed', 'theme', 'evan', 'fr-FR', '', $3, $3, 'c', $4)`,
    [readingId, given.rowSays ?? livemode, instant(NOW - ageMs), erasedAt],
  );
  return readingId;
};

it('erases test readings after their days, once, and nothing else', async () => {
  const older = await make(40 * DAY_MS);
  const old = await make(30 * DAY_MS + 1);
  await make(30 * DAY_MS);
  await make(40 * DAY_MS, { livemode: true });
  await make(40 * DAY_MS, { erasedAt: instant(NOW) });
  await sweep();
  expect(erased.map(({ readingId }) => readingId)).toEqual([older, old]);
  expect(erased[0]).toMatchObject({ workspaceId: 'ws_1', by: { actor: 'system:readings.test-sweep' } });
});

it('shows which are due, and when it last erased all of them', async () => {
  const shown = () => new LookAtTestReadingsHandler(pool, config).execute(new LookAtTestReadings(NOW));
  await make(40 * DAY_MS);
  await make(40 * DAY_MS, { livemode: true });
  expect(await shown()).toMatchObject({
    kind: 'test-readings',
    days: 30,
    oldest: instant(NOW - 40 * DAY_MS),
    due: { rows: 1 },
    lagDays: 10,
    lastRun: null,
  });
  await sweep();
  await pool.query('update readings.reading set erased_at = now() where not livemode');
  expect(await shown()).toMatchObject({
    oldest: null,
    lagDays: 0,
    lastRun: { at: instant(NOW), removedInAll: 1 },
  });
});

it('erases nothing while the clocks cannot be trusted', async () => {
  await make(40 * DAY_MS);
  const untrusted = () => {
    throw new ClockUntrusted('the clocks differ');
  };
  await expect(sweep(untrusted)).rejects.toBeInstanceOf(ClockUntrusted);
  expect(erased).toEqual([]);
});

it('believes the stream, not the table, and goes on with the others', async () => {
  await make(50 * DAY_MS, { livemode: true, rowSays: false });
  const tested = await make(40 * DAY_MS);
  await expect(sweep()).rejects.toThrow(/live reading/);
  expect(erased.map(({ readingId }) => readingId)).toEqual([tested]);
});
