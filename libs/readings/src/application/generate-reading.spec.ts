import { beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { KeyNotHeld } from '#platform/crypto/wrapping-keys.js';
import { InMemoryKeys } from '../../test/in-memory-keys.js';
import { BODY, requestReading, REQUEST } from '../../test/readings.js';
import { createReadingExecutor } from '../executors.js';
import { openResult, sealInput } from '../sealed-reading.js';
import {
  GenerateReadingJob,
  InputUnprocessable,
  ReadingTimers,
  themeCalculator,
  type ThemeCalculator,
  DELAY_READING,
  GENERATE_READING,
  TIME_OUT_READING,
  generationProcess,
} from './generate-reading.js';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { statement } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { addJob, removeJob } from '#platform/jobs/job.js';
import { END_BATCH } from './end-batch.js';
import type { ReadingEvent } from '../contracts/events.js';

const READING = '0b9f6f0e-5b7d-4f44-9a43-0f3c6c1f8a11';
const job = { readingId: READING, workspaceId: 'ws_1', correlationId: 'req_1', causationId: 'event-1' };
const calculateResult = themeCalculator({ contentVersion: '2026.11.2', formats: ['document_v1'] });
const config = {
  READING_LEASE_MS: 60_000,
  READING_DELAYED_AFTER_MS: 300_000,
  READING_TIMEOUT_MS: 86_400_000,
};

let store: InMemoryEventStore;
let keys: InMemoryKeys;
let now: number;

const { name, dateOfBirth, grammaticalProfile } = BODY;

const request = async (
  readingId: string,
  livemode: boolean,
  metadata?: Readonly<Record<string, string>>,
): Promise<void> => {
  const input = { name, dateOfBirth, grammaticalProfile, ...(metadata && { metadata }) };
  const sealedInput = sealInput(await keys.create(readingId), input);
  await requestReading(createReadingExecutor(store), readingId, now, { livemode, sealedInput });
};

beforeEach(async () => {
  store = new InMemoryEventStore();
  keys = new InMemoryKeys();
  now = Date.parse('2026-09-29T08:00:00.000Z');
  await request(READING, true);
});

const worker = (calculate: ThemeCalculator = calculateResult): GenerateReadingJob =>
  new GenerateReadingJob(
    createReadingExecutor(store),
    calculate,
    { now: () => now },
    config,
    pino({ level: 'silent' }),
    keys as unknown as SubjectKeys,
    new ReadingTimers(createReadingExecutor(store), { now: () => now }, store, config),
  );

const types = () => store.log.map(({ type }) => type);
const failing: ThemeCalculator = () => {
  throw new Error('Camille Marie Laurent, 1990-06-15');
};

describe('generating a reading', () => {
  it('completes it with the result of the method, sealed', async () => {
    await worker().run(job);
    expect(types()).toEqual(['ReadingRequested', 'ReadingStarted', 'ReadingCompleted']);
    const { sealedResult } = store.log[2]!.data as { sealedResult: string };
    expect(Buffer.from(sealedResult, 'base64').toString('latin1')).not.toContain('Laurent');
    const opened = openResult((await keys.find(READING))!, sealedResult);
    expect(JSON.parse(opened.toString())).toMatchObject({
      readingId: READING,
      numbers: { lifePath: { display: '13/4' } },
    });
  });

  it('gives the same bytes at any later time: only the acceptance date counts', async () => {
    const bytes: Buffer[] = [];
    const spy: ThemeCalculator = (request) => {
      bytes.push(calculateResult(request));
      throw new Error('not this time');
    };
    await worker(spy).run(job);
    now += 400 * 86_400_000;
    await worker(spy).run(job);
    expect(bytes).toHaveLength(2);
    expect(bytes[0]!.equals(bytes[1]!)).toBe(true);
  });

  it('does nothing while another worker owns the reading, and nothing once it has ended', async () => {
    await Promise.all([worker().run(job), worker().run(job), worker().run(job)]);
    await worker().run(job);
    expect(types()).toEqual(['ReadingRequested', 'ReadingStarted', 'ReadingCompleted']);
  });

  it('retries after growing pauses, and fails when the attempts are used up, without repeating the input', async () => {
    await worker(failing).run(job);
    expect(store.log.at(-1)!.data).toEqual({
      attempt: 1,
      code: 'generation_failed',
      retryAt: '2026-09-29T08:00:02.000Z',
    });
    await worker(failing).run(job);
    expect(types()).toHaveLength(3);
    now += 2_000;
    await worker(failing).run(job);
    expect(store.log.at(-1)!.data).toMatchObject({ attempt: 2, retryAt: '2026-09-29T08:00:06.000Z' });
    for (const pauseMs of [4_000, 8_000, 16_000]) {
      now += pauseMs;
      await worker(failing).run(job);
    }
    expect(types().slice(-2)).toEqual(['ReadingStarted', 'ReadingFailed']);
    expect(store.log.at(-1)!.data).toEqual({
      workspaceId: 'ws_1',
      livemode: true,
      code: 'generation_failed',
      attempts: 5,
      reservationId: 'r1',
    });
    expect(
      JSON.stringify(store.log.slice(1).map(({ data, metadata }) => ({ data, metadata }))),
    ).not.toContain('Laurent');
  });

  it.each<[string, () => void, ThemeCalculator]>([
    [
      'its input can never be processed',
      () => undefined,
      () => {
        throw new InputUnprocessable('no');
      },
    ],
    ['its key was destroyed', () => keys.keys.clear(), calculateResult],
    [
      'its input was sealed with another key',
      () => keys.keys.set(READING, Buffer.alloc(32, 9)),
      calculateResult,
    ],
  ])('fails at once when %s', async (_, prepare, calculate) => {
    prepare();
    await worker(calculate).run(job);
    const data = { code: 'input_unprocessable', attempts: 1 };
    expect(store.log.at(-1)).toMatchObject({ type: 'ReadingFailed', data });
  });

  it('spends no attempt in a worker that lacks the key-encryption key, and completes once it is there', async () => {
    const find = keys.find.bind(keys);
    keys.find = () => Promise.reject(new KeyNotHeld('No encryption key named k2 is configured'));
    await expect(worker().run(job)).rejects.toBeInstanceOf(KeyNotHeld);
    expect(types()).toEqual(['ReadingRequested']);
    keys.find = find;
    await worker().run(job);
    expect(types()).toEqual(['ReadingRequested', 'ReadingStarted', 'ReadingCompleted']);
  });

  it('spends no attempt on an unavailable store: the lease expires and the next worker takes over', async () => {
    const append = store.append.bind(store);
    store.append = (stream, expected, events: readonly EventToAppend[]) =>
      events[0]!.type === 'ReadingCompleted'
        ? Promise.reject(new StoreUnavailable('away', false))
        : append(stream, expected, events);
    await expect(worker().run(job)).rejects.toBeInstanceOf(StoreUnavailable);
    store.append = append;
    await worker().run(job);
    expect(types()).toEqual(['ReadingRequested', 'ReadingStarted']);
    now += config.READING_LEASE_MS;
    await worker().run(job);
    expect(types()).toEqual(['ReadingRequested', 'ReadingStarted', 'ReadingStarted', 'ReadingCompleted']);
  });
});

it('A live reading cannot ask for its outcome', async () => {
  const readingId = '1c9f6b1e-44b5-4b8c-9e0d-7a1d5f3c2b10';
  await request(readingId, true, { test_outcome: 'failed:timed_out' });
  await worker().run({ ...job, readingId, mode: 'test' as const });
  expect(types().at(-1)).toBe('ReadingCompleted');
});

describe('A timer of a reading', () => {
  let timers: ReadingTimers;

  beforeEach(async () => {
    store = new InMemoryEventStore(() => now);
    const executor = createReadingExecutor(store);
    timers = new ReadingTimers(executor, { now: () => now }, store, config);
    // The API that accepted it was two seconds behind.
    await requestReading(executor, READING, now - 2_000);
  });

  const remaining = async (timer: Promise<void>): Promise<unknown> => timer.catch((error: unknown) => error);

  it('that PostgreSQL fired too early, 0.4 s after the request, waits for the rest of its time', async () => {
    now += 400;
    expect(await remaining(timers.timeOut(job))).toEqual(new NotDueYet(86_400_000 - 400));
    expect(await remaining(timers.delay(job))).toEqual(new NotDueYet(300_000 - 400));
    expect(types()).toEqual(['ReadingRequested']);
  });

  it('counts from the store’s record time, not from the clock of the API that accepted the reading', async () => {
    now += 300_000 - 1;
    expect(await remaining(timers.delay(job))).toEqual(new NotDueYet(1));
    now += 1;
    await timers.delay(job);
    expect(types()).toEqual(['ReadingRequested', 'ReadingDelayed']);
  });

  it('decides nothing while the clocks differ', async () => {
    const untrusted = new ReadingTimers(
      createReadingExecutor(store),
      { now: () => Promise.reject(new ClockUntrusted('they differ')) },
      store,
      config,
    );
    now += 2 * 86_400_000;
    await expect(untrusted.timeOut(job)).rejects.toThrow(ClockUntrusted);
    expect(types()).toEqual(['ReadingRequested']);
  });
});

describe('The generation process', () => {
  const process = generationProcess({ delayedAfterMs: 300_000, timeoutMs: 86_400_000 });
  const reading = (event: ReadingEvent, causationId = 'correlation') =>
    recorded('reading-7f9c', event, {
      metadata: { occurredAt: '2026-04-12T10:00:00.000Z', causationId },
    });

  const payload = {
    readingId: '7f9c',
    workspaceId: 'ws_1',
    correlationId: 'correlation',
    causationId: 'event-1',
  };
  const TURN = { workspaceId: 'ws_1', isBulk: false, length: 2 };
  const ids = { workspaceId: 'ws_1', livemode: true, reservationId: 'r_1' };

  it.each([
    ['ordered alone', { isBulk: false, livemode: true, priority: 1 }],
    ['of a batch', { isBulk: true, livemode: true, priority: 1 }],
    ['for a test, after live ones that wait,', { isBulk: false, livemode: false, priority: 5 }],
  ])('has a reading %s generated in turn, and sets its timers', (_, { isBulk, livemode, priority }) => {
    const { readingId, workspaceId, ...cause } = payload;
    const job = { readingId, workspaceId, ...(!livemode && { mode: 'test' as const }), ...cause };
    const requested = { type: 'ReadingRequested', data: { ...REQUEST, livemode } } as const;
    const [delay, timeOut] = ['2026-04-12T10:05:00.000Z', '2026-04-13T10:00:00.000Z'] as const;
    const turn = { ...TURN, isBulk };
    given(process, reading(requested, isBulk ? 'batch-1' : undefined)).thenSends(
      statement(addJob(GENERATE_READING, job, { key: 'readings.generate:7f9c', priority, turn })),
      statement(addJob(DELAY_READING, job, { key: 'readings.delay:7f9c', runAt: delay })),
      statement(addJob(TIME_OUT_READING, job, { key: 'readings.time-out:7f9c', runAt: timeOut })),
    );
  });

  it('retries at the time that a failed attempt names, before readings that have not begun', () => {
    const data = { attempt: 1, code: 'generation_failed', retryAt: '2026-04-12T10:00:04.000Z' } as const;
    given(process, reading({ type: 'ReadingAttemptFailed', data })).thenSends(
      statement(
        addJob(GENERATE_READING, payload, {
          key: 'readings.generate:7f9c',
          priority: 0,
          runAt: data.retryAt,
        }),
      ),
    );
  });

  it('removes the timers of a reading that has ended', () => {
    const data = { ...ids, code: 'timed_out', attempts: 5 } as const;
    given(process, reading({ type: 'ReadingFailed', data })).thenSends(
      statement(removeJob('readings.delay:7f9c')),
      statement(removeJob('readings.time-out:7f9c')),
    );
  });

  it.each([
    [true, 1],
    [false, 5],
  ])(
    'has a batch (live: %s) looked at from its request on, in line with readings of its mode',
    (livemode, priority) => {
      const data = { workspaceId: 'ws_1', livemode, mode: 'all', items: 2 } as const;
      const batch = recorded('batch-b1', {
        type: 'BatchRequested',
        data: { ...data, refused: [], invalid: [] },
      });
      const { readingId: _, ...ofBatch } = payload;
      given(process, batch).thenSends(
        statement(
          addJob(END_BATCH, { batchId: 'b1', ...ofBatch }, { key: 'readings.end-batch:b1', priority }),
        ),
      );
    },
  );
});
