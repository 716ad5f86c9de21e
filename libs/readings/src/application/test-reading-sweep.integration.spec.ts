import { beforeEach, expect, it } from '@jest/globals';
import type { CommandBus } from '@nestjs/cqrs';
import { ClockUntrusted, instant } from '#event-sourcing/core/clock.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { testPool } from '../../../../test/support/test-pool.js';
import { insertReading, requestReading } from '../../test/readings.js';
import { type EraseReading, LookAtTestReadings } from '../contracts/messages.js';
import { LookAtTestReadingsHandler, TestReadingSweep } from './erase-reading.js';
import { createReadingExecutor } from '../executors.js';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const DAY_MS = 86_400_000;
const config = { TEST_DATA_KEPT_DAYS: 30, KEY_EPOCH_MS: 604_800_000 };
const never = new AbortController().signal;

const pool = testPool();
let executor: ReturnType<typeof createReadingExecutor>;
let erased: EraseReading[];

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
  const { livemode = false, erasedAt = null } = given;
  const readingId = await insertReading(pool, {
    livemode: given.rowSays ?? livemode,
    created_at: instant(NOW - ageMs),
    erased_at: erasedAt,
  });
  await requestReading(executor, readingId, NOW - ageMs, { livemode });
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
