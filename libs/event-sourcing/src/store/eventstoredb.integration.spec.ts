import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '@app/embedded-event-store/index.js';
import type { StoredEvent } from '../core/event.js';
import { addedToAppend } from '../testing/tally.js';
import { StoreUnavailable, WrongExpectedRevision } from './errors.js';
import type { EventStore, ExpectedRevision, SubscribeOptions } from './event-store.js';
import { openEventStore } from './eventstoredb.js';

const APPEND_TIMEOUT_MS = 1_000;

// One client for the whole file, as in a process: the client's append bank is global to its module.
let dataDir: string;
let server: EmbeddedEventStore;
let store: EventStore;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'event-store-port-'));
  server = await startEmbeddedEventStore({ dataDir });
  const { connectionString } = server;
  store = openEventStore({ connectionString, appendTimeoutMs: APPEND_TIMEOUT_MS, readTimeoutMs: 2_000 });
});

afterAll(async () => {
  await store.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const newStream = (category = 'tally'): string => `${category}-${randomUUID()}`;
const newEvents = (count: number) =>
  Array.from({ length: count }, (_, index) => addedToAppend(randomUUID(), `r${index}`));
const collect = async (events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> => {
  const all: StoredEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};
const revisions = async (events: AsyncIterable<StoredEvent>) =>
  (await collect(events)).map(({ revision }) => revision);
const positionOf = async (stream: string, revision: bigint) =>
  (await collect(store.read(stream, { from: revision, limit: 1 })))[0]!.position;
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);

/** Opens a subscription, takes so many events, closes it. */
const take = async (count: number, options: SubscribeOptions, meanwhile?: () => Promise<unknown>) => {
  const subscription = store.subscribe(options);
  const seen: StoredEvent[] = [];
  try {
    const reading = (async () => {
      for await (const event of subscription) {
        seen.push(event);
        if (seen.length === count) return;
      }
    })();
    await meanwhile?.();
    await reading;
  } finally {
    await subscription.close();
  }
  return seen;
};

describe('append and read', () => {
  it('give back what was written, with its place', async () => {
    const stream = newStream();
    const [event] = newEvents(1);
    const result = await store.append(stream, 'no_stream', [event!]);
    expect(result.revision).toBe(0n);
    const [read] = await collect(store.read(stream));
    expect(read).toEqual({
      ...event!,
      stream,
      revision: 0n,
      position: result.position,
      metadata: expect.objectContaining(event!.metadata),
    });
    expect(typeof read!.position).toBe('bigint');
  });

  it('read forwards and backwards, from a revision, with a limit; revisions order as numbers', async () => {
    const stream = newStream();
    await store.append(stream, 'no_stream', newEvents(13));
    expect(await revisions(store.read(stream, { from: 9n, limit: 3 }))).toEqual([9n, 10n, 11n]);
    expect(await revisions(store.read(stream, { from: 11n, direction: 'backwards', limit: 3 }))).toEqual([
      11n,
      10n,
      9n,
    ]);
    expect(await revisions(store.read(stream, { direction: 'backwards', limit: 2 }))).toEqual([12n, 11n]);
    expect(await revisions(store.read(stream))).toHaveLength(13);
  });

  it('yield nothing of a stream that does not exist', async () => {
    expect(await collect(store.read(newStream()))).toEqual([]);
    expect(await collect(store.read(newStream(), { direction: 'backwards' }))).toEqual([]);
  });

  it('refuse another revision than the one seen, and tell what it is', async () => {
    const stream = newStream();
    await store.append(stream, 'no_stream', newEvents(2));
    const attempts: readonly ExpectedRevision[] = ['no_stream', 0n, 7n];
    for (const expected of attempts) {
      const refused = store.append(stream, expected, newEvents(1));
      await expect(refused).rejects.toBeInstanceOf(WrongExpectedRevision);
      await expect(refused).rejects.toMatchObject({ stream, expected, actual: 1n });
    }
    await expect(store.append(newStream(), 0n, newEvents(1))).rejects.toMatchObject({
      expected: 0n,
      actual: 'no_stream',
    });
    expect(await collect(store.read(stream))).toHaveLength(2);
  });

  it('take the same events at the same revision for a repeat, also when others came after', async () => {
    const stream = newStream();
    const events = newEvents(2);
    const first = await store.append(stream, 'no_stream', events);
    expect(await store.append(stream, 'no_stream', events)).toEqual(first);
    await store.append(stream, 1n, newEvents(1));
    expect(await store.append(stream, 'no_stream', events)).toEqual(first);
    expect(await collect(store.read(stream))).toHaveLength(3);
  });

  it('let one of two writers at one revision win', async () => {
    const stream = newStream();
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => store.append(stream, 'no_stream', newEvents(1))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await collect(store.read(stream))).toHaveLength(1);
  });

  it('lets go of a read that is left early, however often', async () => {
    const stream = newStream();
    await store.append(stream, 'no_stream', newEvents(300));
    // More than the calls a server would keep open side by side on one connection.
    for (let round = 0; round < 150; round += 1) {
      for await (const { revision } of store.read(stream)) {
        if (revision === 1n) break;
      }
    }
    expect(await collect(store.read(stream, { limit: 1 }))).toHaveLength(1);
  });
});

describe('the log', () => {
  it('is read in its order after a position, in both directions, with a limit', async () => {
    const before = await store.head();
    const streams = [newStream('left'), newStream('right')] as const;
    const written: { id: string; position: bigint }[] = [];
    for (let index = 0; index < 6; index += 1) {
      const [event] = newEvents(1);
      const expected = index < 2 ? 'no_stream' : BigInt(Math.floor(index / 2) - 1);
      const { position } = await store.append(streams[index % 2]!, expected, [event!]);
      written.push({ id: event!.id, position });
    }
    const forwards = await collect(store.readAll({ after: before }));
    expect(forwards.map(({ id, position }) => ({ id, position }))).toEqual(written);
    const after = written[1]!.position;
    expect(ids(await collect(store.readAll({ after, limit: 2 })))).toEqual(ids(written.slice(2, 4)));
    const last = written[5]!.position;
    const backwards = await collect(store.readAll({ after: last, direction: 'backwards', limit: 3 }));
    expect(ids(backwards)).toEqual(ids(written.slice(2, 5).toReversed()));
    expect(await store.head()).toBe(last);
  });

  it('shows no system events, and has a head even when many of them came last', async () => {
    const { position } = await store.append(newStream(), 'no_stream', newEvents(1));
    await store.append(`$spec-${randomUUID()}`, 'no_stream', newEvents(70));
    expect(await collect(store.readAll({ after: position }))).toEqual([]);
    // A process born now starts there: never before what is of ours, or history would fire its effects.
    expect(await store.head()).toBeGreaterThanOrEqual(position);
  });

  it('ends with its last event, whoever wrote it', async () => {
    const { position } = await store.append(newStream(), 'no_stream', newEvents(1));
    expect(await store.end()).toBe(position);
    const system = await store.append(`$spec-${randomUUID()}`, 'no_stream', newEvents(3));
    expect(await store.head()).toBe(position);
    expect(await store.end()).toBe(system.position);
  });
});

describe('a subscription', () => {
  it('delivers after a position, in order: history, then what is appended', async () => {
    const stream = newStream('live');
    const events = newEvents(6);
    const { position } = await store.append(stream, 'no_stream', events.slice(0, 1));
    await store.append(stream, 0n, events.slice(1, 3));
    const seen = await take(5, { after: position, categories: ['live'] }, async () => {
      await delay(50);
      await store.append(stream, 2n, events.slice(3));
    });
    expect(ids(seen)).toEqual(ids(events.slice(1)));
    expect(seen.map(({ revision }) => revision)).toEqual([1n, 2n, 3n, 4n, 5n]);
  });

  it('delivers the categories asked for, and no other that begins alike', async () => {
    const after = await store.head();
    const events = newEvents(4);
    const streams = [newStream('car'), newStream('cargo'), newStream('boat'), newStream('car')];
    for (const [index, stream] of streams.entries())
      await store.append(stream, 'no_stream', [events[index]!]);
    expect(ids(await take(3, { after, categories: ['car', 'boat'] }))).toEqual(
      [events[0], events[2], events[3]].map((event) => event!.id),
    );
  });

  it('that is cut off while it is read ends as unavailable', async () => {
    const subscription = store.subscribe({ after: await store.head(), categories: ['tally'] });
    const reading = collect(subscription);
    await delay(50);
    await Promise.all([subscription.close(), expect(reading).rejects.toBeInstanceOf(StoreUnavailable)]);
  });

  it('tells a quiet subscriber how far the log went without it, and no further than what it delivered', async () => {
    const after = await store.head();
    const told: bigint[] = [];
    const subscription = store.subscribe({
      after,
      categories: ['quiet'],
      onCheckpoint: (position) => told.push(position),
    });
    const delivered: bigint[] = [];
    const reading = (async () => {
      for await (const event of subscription) {
        delivered.push(event.position);
        return;
      }
    })();
    const noise = newStream('noise');
    await store.append(noise, 'no_stream', newEvents(200));
    const [first, half] = [await positionOf(noise, 0n), await positionOf(noise, 99n)];
    // It is told now and then, not of every event.
    while ((told.at(-1) ?? 0n) < half) await delay(10);
    expect(told.at(-1)).toBeGreaterThan(first);
    expect(delivered).toEqual([]);
    const mine = await store.append(newStream('quiet'), 'no_stream', newEvents(1));
    await reading;
    await subscription.close();
    expect(delivered).toEqual([mine.position]);
    expect(told.toSorted((a, b) => Number(a - b))).toEqual(told);
  });
});

describe('a server that goes away', () => {
  const restart = async () => {
    const { port } = server;
    await server.stop();
    return async () => {
      server = await startEmbeddedEventStore({ dataDir, port });
    };
  };

  const appendWhenBack = async (stream: string): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await store.append(stream, 'no_stream', newEvents(1));
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt === 50) throw error;
        await delay(100);
      }
    }
  };

  it('makes every door fail as unavailable, and all work again once it is back, with the same client', async () => {
    const stream = newStream();
    await store.append(stream, 'no_stream', newEvents(1));
    const startAgain = await restart();
    await expect(store.append(stream, 0n, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(collect(store.read(stream))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(collect(store.readAll())).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.head()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(take(1, { after: null, categories: ['tally'] })).rejects.toBeInstanceOf(StoreUnavailable);
    await startAgain();
    await appendWhenBack(newStream());
    expect(await collect(store.read(stream))).toHaveLength(1);
  });

  it('ends open subscriptions with an error, so that they can be opened again', async () => {
    const subscription = store.subscribe({ after: await store.head(), categories: ['tally'] });
    const reading = collect(subscription);
    reading.catch(() => undefined);
    await delay(100);
    const startAgain = await restart();
    await expect(reading).rejects.toBeInstanceOf(StoreUnavailable);
    await subscription.close();
    await startAgain();
    await appendWhenBack(newStream());
  });

  it('loses nothing it acknowledged, and settles every append in flight one way or the other', async () => {
    const inFlight = Array.from({ length: 200 }, () => {
      const stream = newStream('flight');
      return store.append(stream, 'no_stream', newEvents(1)).then(
        () => ({ stream, acknowledged: true }),
        (error: unknown) => ({ stream, acknowledged: false, error }),
      );
    });
    const startAgain = await restart();
    const results = await Promise.all(inFlight);
    await startAgain();
    await appendWhenBack(newStream());
    for (const result of results) {
      if (!result.acknowledged) expect('error' in result && result.error).toBeInstanceOf(StoreUnavailable);
      else expect(await collect(store.read(result.stream))).toHaveLength(1);
    }
  });
});
