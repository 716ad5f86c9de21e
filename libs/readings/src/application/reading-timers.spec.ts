import { beforeEach, describe, expect, it } from '@jest/globals';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { DroppingEventStore } from '#event-sourcing/testing/dropping-event-store.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { requestReading } from '../../test/readings.js';
import { createReadingExecutor } from '../executors.js';
import { ReadingTimers } from './generate-reading.js';

const START = Date.parse('2026-11-22T12:00:00.000Z');
const CONFIG = { READING_DELAYED_AFTER_MS: 300_000, READING_TIMEOUT_MS: 86_400_000 };
const JOB = { readingId: 'r1', workspaceId: 'ws_1', correlationId: 'c', causationId: 'e' };

/** The true time, which is the store's, and how far the worker's clock is off it (ms). */
let now: number;
let offMs: number;
let store: DroppingEventStore;
let timers: ReadingTimers;

beforeEach(async () => {
  [now, offMs] = [START, 0];
  store = new DroppingEventStore(() => now);
  const executor = createReadingExecutor(store);
  timers = timersOn(executor);
  // The API that accepted it was two seconds behind.
  await requestReading(executor, 'r1', now - 2_000);
});

/** As one worker has them. */
const timersOn = (executor = createReadingExecutor(store)) =>
  new ReadingTimers(executor, { now: () => now + offMs }, store, CONFIG);

const types = () => store.log.map(({ type }) => type);
const remaining = async (timer: Promise<void>): Promise<unknown> => timer.catch((error: unknown) => error);

describe('a timer that PostgreSQL fired too early', () => {
  it('fails no reading 0.4 s after it was accepted: it waits for the rest of its time', async () => {
    now += 400;
    expect(await remaining(timers.timeOut(JOB))).toEqual(new NotDueYet(86_400_000 - 400));
    expect(await remaining(timers.delay(JOB))).toEqual(new NotDueYet(300_000 - 400));
    expect(types()).toEqual(['ReadingRequested']);
  });

  it('counts from the store’s record time, not from the clock of the API that accepted the reading', async () => {
    now += 300_000 - 1;
    expect(await remaining(timers.delay(JOB))).toEqual(new NotDueYet(1));
    now += 1;
    await timers.delay(JOB);
    expect(types()).toEqual(['ReadingRequested', 'ReadingDelayed']);
  });
});

it('A timer decides nothing while the clocks differ', async () => {
  const untrusted = new ReadingTimers(
    createReadingExecutor(store),
    { now: () => Promise.reject(new ClockUntrusted('they differ')) },
    store,
    CONFIG,
  );
  now += 2 * 86_400_000;
  await expect(untrusted.timeOut(JOB)).rejects.toThrow(ClockUntrusted);
  expect(types()).toEqual(['ReadingRequested']);
});
