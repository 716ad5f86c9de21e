import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '../core/event.js';
import { collect } from './event-store.js';
import { AppendTooLarge } from './errors.js';
import { ageOf, serverClockAt } from './server-time.js';
import { addedToAppend } from '../testing/tally.js';
import { newEvents, newStream, storeUnderTest } from './testing/store-under-test.js';

const port = storeUnderTest();
const { take } = port;

const revisions = async (events: AsyncIterable<StoredEvent>) =>
  (await collect(events)).map(({ revision }) => revision);
const positionOf = async (stream: string, revision: bigint) =>
  (await collect(port.store.read(stream, { from: revision, limit: 1 })))[0]!.position;
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);

describe('append and read', () => {
  it('return the written events, with their places', async () => {
    const stream = newStream();
    const [event] = newEvents(1);
    const result = await port.store.append(stream, 'no_stream', [event!]);
    expect(result.revision).toBe(0n);
    const [read] = await collect(port.store.read(stream));
    expect(read).toEqual({
      ...event!,
      stream,
      revision: 0n,
      position: result.position,
      metadata: expect.objectContaining(event!.metadata),
      recordedAt: expect.any(Number),
    });
    expect(typeof read!.position).toBe('bigint');
  });

  it('keep within their own limit, whatever the server takes', async () => {
    const stream = newStream();
    const ofSize = (bytes: number) => [addedToAppend(randomUUID(), 'x'.repeat(bytes))];
    await expect(port.store.append(stream, 'no_stream', ofSize(1_048_576))).rejects.toThrow(AppendTooLarge);
    await port.store.append(stream, 'no_stream', ofSize(1_040_000));
    expect(await revisions(port.store.read(stream))).toEqual([0n]);
  });

  it('show the store’s clock: with each answer, and with each event', async () => {
    const before = Date.now();
    const stream = newStream();
    await port.store.append(stream, 'no_stream', newEvents(1));
    const [event] = await collect(port.store.read(stream));
    const after = Date.now();
    expect(event!.recordedAt).toBeGreaterThanOrEqual(before);
    expect(event!.recordedAt).toBeLessThanOrEqual(after);
    const { least, most } = serverClockAt((await port.store.serverTime())!, performance.now());
    expect(least).toBeLessThanOrEqual(Date.now());
    expect(most).toBeGreaterThanOrEqual(after);
    expect(most - least).toBeLessThan(5_000);
    const age = await ageOf(event!, port.store);
    expect(age).toBeLessThanOrEqual(Date.now() - before);
  });

  it('yield nothing for a stream that does not exist', async () => {
    expect(await collect(port.store.read(newStream()))).toEqual([]);
    expect(await collect(port.store.read(newStream(), { direction: 'backwards' }))).toEqual([]);
  });
});

describe('the log', () => {
  it('is read in part: only streams of some categories', async () => {
    const before = await port.store.head();
    const [left, right] = [`credits-${randomUUID()}`, `reading-${randomUUID()}`];
    const names = [left, right, newStream(), ...Array.from({ length: 8 }, () => `reading-${randomUUID()}`)];
    for (const name of names) await port.store.append(name, 'no_stream', newEvents(2));
    const streamsOf = async (categories: readonly string[], limit = Infinity) => {
      const events = await collect(port.store.readAll({ after: before, categories, limit }));
      return events.map(({ stream }) => stream);
    };
    const categories = ['credits', 'reading'];
    const selected = names.filter((_, index) => index !== 2).flatMap((name) => [name, name]);
    expect(await streamsOf(categories)).toEqual(selected);
    expect(await streamsOf(categories, 3)).toEqual(selected.slice(0, 3));
    expect(await streamsOf(['credits'])).toEqual([left, left]);
  });

  it('shows no system events, and has a head even when it ends with many of them', async () => {
    const { position } = await port.store.append(newStream(), 'no_stream', newEvents(1));
    await port.store.append(`$spec-${randomUUID()}`, 'no_stream', newEvents(70));
    expect(await collect(port.store.readAll({ after: position }))).toEqual([]);
    // A new process starts there. An earlier start would fire the effects of history.
    expect(await port.store.head()).toBeGreaterThanOrEqual(position);
  });

  it('ends with its last event of any writer', async () => {
    const { position } = await port.store.append(newStream(), 'no_stream', newEvents(1));
    expect(await port.store.end()).toBe(position);
    const system = await port.store.append(`$spec-${randomUUID()}`, 'no_stream', newEvents(3));
    expect(await port.store.head()).toBe(position);
    expect(await port.store.end()).toBe(system.position);
  });
});

describe('a subscription', () => {
  it('delivers after a position, in order: history, then new events', async () => {
    const stream = newStream('live');
    const events = newEvents(6);
    const { position } = await port.store.append(stream, 'no_stream', events.slice(0, 1));
    await port.store.append(stream, 0n, events.slice(1, 3));
    const seen = await take(5, { after: position, categories: ['live'] }, async () => {
      await delay(50);
      await port.store.append(stream, 2n, events.slice(3));
    });
    expect(ids(seen)).toEqual(ids(events.slice(1)));
    expect(seen.map(({ revision }) => revision)).toEqual([1n, 2n, 3n, 4n, 5n]);
  });

  it('delivers the requested categories, and no other with the same prefix', async () => {
    const after = await port.store.head();
    const events = newEvents(4);
    const streams = [newStream('car'), newStream('cargo'), newStream('boat'), newStream('car')];
    for (const [index, stream] of streams.entries())
      await port.store.append(stream, 'no_stream', [events[index]!]);
    expect(ids(await take(3, { after, categories: ['car', 'boat'] }))).toEqual(
      [events[0], events[2], events[3]].map((event) => event!.id),
    );
  });

  it('reports the progress of the log to a quiet subscriber, never beyond a matching event it has not delivered', async () => {
    const after = await port.store.head();
    const checkpoints: bigint[] = [];
    const subscription = port.store.subscribe({
      after,
      categories: ['quiet'],
      onCheckpoint: (position) => checkpoints.push(position),
    });
    const delivered: bigint[] = [];
    const reading = (async () => {
      for await (const event of subscription) {
        delivered.push(event.position);
        return;
      }
    })();
    const noise = newStream('noise');
    await port.store.append(noise, 'no_stream', newEvents(200));
    const [first, half] = [await positionOf(noise, 0n), await positionOf(noise, 99n)];
    // Checkpoints arrive from time to time, not for every event.
    while ((checkpoints.at(-1) ?? 0n) < half) await delay(10);
    expect(checkpoints.at(-1)).toBeGreaterThan(first);
    expect(delivered).toEqual([]);
    const mine = await port.store.append(newStream('quiet'), 'no_stream', newEvents(1));
    await reading;
    await subscription.close();
    expect(delivered).toEqual([mine.position]);
    expect(checkpoints.toSorted((a, b) => Number(a - b))).toEqual(checkpoints);
  });

  it('reports no checkpoint before its reader has dealt with the events that come before it', async () => {
    const after = await port.store.head();
    const [slow, noise] = [newStream('slow'), newStream('noise')];
    const positions: bigint[] = [];
    for (let n = 0; n < 60; n += 1) {
      const expected = n === 0 ? 'no_stream' : BigInt(n - 1);
      positions.push((await port.store.append(slow, expected, newEvents(1))).position);
      await port.store.append(noise, n === 0 ? 'no_stream' : BigInt(2 * n - 1), newEvents(2));
    }
    let handled = 0;
    const reports: { readonly before: number; readonly handled: number }[] = [];
    const subscription = port.store.subscribe({
      after,
      categories: ['slow'],
      checkpointEvery: 1,
      onCheckpoint: (checkpoint) =>
        reports.push({ before: positions.filter((position) => position <= checkpoint).length, handled }),
    });
    for await (const _ of subscription) {
      await delay(5);
      handled += 1;
      if (handled === positions.length) break;
    }
    await subscription.close();
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.filter((report) => report.before > report.handled)).toEqual([]);
  });
});
