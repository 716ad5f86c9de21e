import { EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import { collect, type EventStore, type ReadOptions } from './event-store.js';
import { newEvents, newStream, storeUnderTest } from './testing/store-under-test.js';

/** Enough events for several pages of the largest size. */
const MANY = 700;

const port = storeUnderTest();
let long: string;

beforeAll(async () => {
  long = await streamOf(MANY);
});

afterEach(() => {
  jest.restoreAllMocks();
});

const streamOf = async (length: number): Promise<string> => {
  const stream = newStream();
  await port.store.append(stream, 'no_stream', newEvents(length));
  return stream;
};
const revisions = async (stream: string, options?: ReadOptions): Promise<number[]> =>
  (await collect(port.store.read(stream, options))).map(({ revision }) => Number(revision));
const positions = async (options?: Parameters<EventStore['readAll']>[0]): Promise<bigint[]> =>
  (await collect(port.store.readAll(options))).map(({ position }) => position);
/** `first` to `last`, both inclusive, ascending or descending. */
const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.abs(last - first) + 1 }, (_, n) => (first < last ? first + n : first - n));

describe('a stream of several pages', () => {
  it('is read completely and in order, in both directions', async () => {
    expect(await revisions(long)).toEqual(range(0, MANY - 1));
    expect(await revisions(long, { direction: 'backwards' })).toEqual(range(MANY - 1, 0));
    expect(await revisions(long, { from: 100n })).toEqual(range(100, MANY - 1));
    expect(await revisions(long, { from: 599n, direction: 'backwards' })).toEqual(range(599, 0));
  });

  it('is read up to a limit beyond a page', async () => {
    expect(await revisions(long, { limit: 300 })).toEqual(range(0, 299));
    expect(await revisions(long, { limit: 300, direction: 'backwards' })).toEqual(range(699, 400));
    expect(await revisions(long, { limit: MANY + 1 })).toHaveLength(MANY);
  });

  // Pages have 256 events: one less, exactly, one more.
  it.each([1, 255, 256, 257, 512])('may end at the end of a page: %i events', async (length) => {
    const stream = await streamOf(length);
    expect(await revisions(stream)).toEqual(length === 1 ? [0] : range(0, length - 1));
    expect(await revisions(stream, { direction: 'backwards' })).toEqual(
      length === 1 ? [0] : range(length - 1, 0),
    );
  });

  it('is corrupt when it is truncated between two pages; its rest can be read', async () => {
    const stream = await streamOf(400);
    const seen: number[] = [];
    const reading = async (): Promise<void> => {
      for await (const { revision } of port.store.read(stream)) {
        seen.push(Number(revision));
        const [event] = newEvents(1);
        const limit = { ...event!, type: '$metadata', data: { $tb: 350 } };
        if (seen.length === 10) await port.store.append(`$$${stream}`, 'no_stream', [limit]);
      }
    };
    await expect(reading()).rejects.toThrow(CorruptEvent);
    expect(seen).toEqual(range(0, 255));
    expect(await revisions(stream, { from: 350n })).toEqual(range(350, 399));
  });
});

describe('a log of several pages', () => {
  it('is read whole and in order, in both directions, from a position', async () => {
    const all = await positions();
    expect(all.length).toBeGreaterThan(MANY);
    expect(all).toEqual(all.toSorted((one, other) => (one < other ? -1 : 1)));
    expect(new Set(all).size).toBe(all.length);
    expect(await positions({ direction: 'backwards' })).toEqual(all.toReversed());
    expect(await positions({ after: all[299]! })).toEqual(all.slice(300));
    expect(await positions({ after: all[299]!, limit: 300 })).toEqual(all.slice(300, 600));
    expect(await positions({ after: all[300]!, direction: 'backwards' })).toEqual(
      all.slice(0, 300).toReversed(),
    );
  });

  it('is read across pages of system events', async () => {
    const [before] = [await port.store.append(newStream(), 'no_stream', newEvents(1))];
    await port.store.append(newStream('$spec'), 'no_stream', newEvents(300));
    const after = await port.store.append(newStream(), 'no_stream', newEvents(1));
    for (const limit of [1, 300, Infinity]) {
      expect(await positions({ after: before.position, limit })).toEqual([after.position]);
    }
    const backwards = await positions({ after: after.position, direction: 'backwards', limit: 2 });
    expect(backwards[0]).toBe(before.position);
    expect(backwards).toHaveLength(2);
  });

  it('is read past thousands of system events in few calls, however few events are requested', async () => {
    const before = await port.store.append(newStream(), 'no_stream', newEvents(1));
    for (let written = 0; written < 3_000; written += 1_000)
      await port.store.append(newStream('$spec'), 'no_stream', newEvents(1_000));
    const calls = jest.spyOn(EventStoreDBClient.prototype, 'readAll');
    expect(await positions({ direction: 'backwards', limit: 1 })).toEqual([before.position]);
    expect(calls.mock.calls.length).toBeLessThanOrEqual(20);
  });
});
