import { beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { KeyNotHeld } from '#platform/crypto/wrapping-keys.js';
import { InMemoryKeys } from '../../test/in-memory-keys.js';
import { BODY, requestReading } from '../../test/readings.js';
import { createReadingExecutor } from '../executors.js';
import { openResult, sealInput } from '../sealed-reading.js';
import {
  GenerateReadingJob,
  InputUnprocessable,
  ReadingTimers,
  themeCalculator,
  type ThemeCalculator,
} from './generate-reading.js';

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
