import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GroupCommit } from '#embedded-event-store/log/group-commit.js';
import { LogStore, type LogWrite } from '#embedded-event-store/log/log-store.js';
import { encodeRecord } from '#embedded-event-store/log/record.js';
import { connectClient, newEvent, type EventStoreDBClient } from '#embedded-event-store/testing/client.js';
import {
  runProgram,
  startEmbeddedChild,
  type ChildStore,
} from '../contract/event-store/support/child-store.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';

const KILLS = rounds(3, 100);
const SEED = seedOr(20261120);
const WRITERS = 32;

/** Chooses the moments of kills. */
const random = new Random(SEED);

interface Acknowledged {
  readonly id: string;
  readonly place: string;
  readonly position: bigint;
}

const placeOf = (stream: string, revision: bigint): string => `${stream}/${revision}`;

/**
 * Appends batches of 1 to 5 events to its own stream, one after the other, until the server is gone. The server
 * acknowledges a batch as a whole, with its last revision.
 */
const write = async (client: EventStoreDBClient, stream: string): Promise<Acknowledged[]> => {
  const acknowledged: Acknowledged[] = [];
  for (let n = 0; ;) {
    const batch = Array.from({ length: random.between(1, 5) }, () => newEvent('Written', { n: n++ }));
    try {
      const { nextExpectedRevision, position } = await client.appendToStream(stream, batch);
      for (const [index, { id }] of batch.entries()) {
        const revision = nextExpectedRevision - BigInt(batch.length - 1 - index);
        acknowledged.push({ id, place: placeOf(stream, revision), position: position?.commit ?? -1n });
      }
    } catch {
      return acknowledged;
    }
  }
};

const verify = async (dataDir: string): Promise<{ events: number; findings: number }> => {
  const { child } = runProgram(['verify', '--data', dataDir, '--json']);
  let out = '';
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(out) as { events: number; findings: number };
};

type Logged = NonNullable<
  (ReturnType<EventStoreDBClient['readAll']> extends AsyncIterable<infer R extends { event?: unknown }>
    ? R
    : never)['event']
>;

/** All events of a store, once it has started again. */
const logOf = async (dataDir: string): Promise<Logged[]> => {
  const server = await startEmbeddedChild(dataDir);
  const client = connectClient(server.connectionString);
  const events: Logged[] = [];
  for await (const { event } of client.readAll()) if (event) events.push(event);
  await client.dispose();
  expect(await server.end('SIGTERM')).toBe(0);
  return events;
};

const root = mkdtempSync(join(tmpdir(), 'event-store-kill-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe(`kill -9 of the event store under ${WRITERS} writers, ${KILLS} times (${again('event-store-kill', KILLS, SEED)})`, () => {
  const dataDir = join(root, 'killed');

  const round = async (server: ChildStore, number: number): Promise<Acknowledged[]> => {
    const client = connectClient(server.connectionString);
    const streams = Array.from({ length: WRITERS }, (_, n) => `round${number}-${n}`);
    const writing = Promise.all(streams.map((stream) => write(client, stream)));
    // Waits for the first answers, which show that the load runs, and then kills at a random moment.
    await client.appendToStream('rounds', newEvent('Round', { number }));
    await delay(random.next() * 250);
    expect(await server.end('SIGKILL')).toBe('SIGKILL');
    const acknowledged = (await writing).flat();
    await client.dispose();
    return acknowledged;
  };

  it(
    'loses no acknowledged event, leaves no gap, keeps the order, and the store verifies',
    async () => {
      const acknowledged: Acknowledged[] = [];
      for (let number = 1; number <= KILLS; number++) {
        acknowledged.push(...(await round(await startEmbeddedChild(dataDir), number)));
        expect(await verify(dataDir)).toMatchObject({ findings: 0 });
      }
      expect(acknowledged.length).toBeGreaterThan(KILLS * WRITERS);

      const placeById = new Map<string, string>();
      const positionByPlace = new Map<string, bigint>();
      const nextOf = new Map<string, bigint>();
      const disordered: string[] = [];
      let previous = -1n;
      for (const { id, streamId, revision, position, data } of await logOf(dataDir)) {
        const place = placeOf(streamId, revision);
        placeById.set(id, place);
        positionByPlace.set(place, position.commit);
        const { n } = data as { n?: number };
        const isNext = revision === (nextOf.get(streamId) ?? 0n);
        const asWritten = n === undefined || BigInt(n) === revision;
        if (!isNext || !asWritten || position.commit <= previous) disordered.push(place);
        nextOf.set(streamId, revision + 1n);
        previous = position.commit;
      }
      expect(disordered).toEqual([]);
      expect(acknowledged.filter(({ id, place }) => placeById.get(id) !== place)).toEqual([]);
      const moved = acknowledged.filter(
        ({ place, position }) => (positionByPlace.get(place) ?? -1n) > position,
      );
      expect(moved).toEqual([]);
    },
    60_000 + KILLS * 10_000,
  );
});

describe('a sync that is slow or fails', () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await LogStore.open(join(root, 'synced'));
  });
  afterAll(() => store.close());

  const anAppend = (revision: bigint): LogWrite => {
    const position = 64n + revision * 1_000n;
    const event = {
      id: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
      type: 'T',
      contentType: 'application/json',
      data: Buffer.from('{}'),
      metadata: Buffer.alloc(0),
    };
    const bytes = encodeRecord(event, { stream: 's', revision, position, createdAt: 0 });
    return {
      records: [{ streamNumber: 0, revision, position, bytes }],
      heads: [{ name: 's', number: 0, last: revision, retention: {} }],
    };
  };

  /** A store whose sync waits for a promise of the test. */
  const syncing = (sync: () => Promise<void>): LogStore =>
    new Proxy(store, {
      get: (target, name) =>
        name === 'write'
          ? async (writes: readonly LogWrite[], streams: number) => {
              await sync();
              await target.write(writes, streams);
            }
          : (Reflect.get(target, name) as unknown),
    });

  const turns = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) await delay(1);
  };

  it('delays the acknowledgement, readers and subscribers until it is done', async () => {
    let synced = (): void => undefined;
    const events: string[] = [];
    const commits = new GroupCommit(
      syncing(() => new Promise((resolve) => (synced = resolve))),
      { onCommitted: () => events.push('published'), onFailure: () => events.push('failed') },
      () => 1,
    );
    const acknowledged = commits.commit(anAppend(0n)).then(() => events.push('acknowledged'));
    const refusal = commits.settled().then(() => events.push('refused'));
    await turns();
    expect(events).toEqual([]);
    expect(store.head('s')).toBeUndefined();
    synced();
    await Promise.all([acknowledged, refusal]);
    expect(events).toEqual(['published', 'acknowledged', 'refused']);
    expect(store.head('s')?.last).toBe(0n);
  });

  it('acknowledges nothing, then or later, and stops the server when it fails', async () => {
    const events: string[] = [];
    const commits = new GroupCommit(
      syncing(() => Promise.reject(new Error('EIO: the disk is gone'))),
      { onCommitted: () => events.push('published'), onFailure: (error) => events.push(String(error)) },
      () => 1,
    );
    void commits.commit(anAppend(1n)).then(() => events.push('acknowledged'));
    await turns();
    void commits.commit(anAppend(2n)).then(() => events.push('acknowledged'));
    await turns();
    expect(events).toEqual(['Error: EIO: the disk is gone']);
    expect(store.head('s')?.last).toBe(0n);
  });
});

it('A disk that refuses a write stops the server with one message; acknowledged events are there at the next start', async () => {
  const dataDir = join(root, 'refused');
  const server = await startEmbeddedChild(dataDir, { maxFileKib: 1_024 });
  const ended = once(server.process, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const client = connectClient(server.connectionString);
  const writers = Array.from({ length: 8 }, (_, n) => write(client, `refused-${n}`));
  const acknowledged = (await Promise.all(writers)).flat();
  await client.dispose();
  expect(await ended).toEqual([1, null]);
  expect(server.said()).toContain('could not be made durable; the event store exits');
  expect(acknowledged.length).toBeGreaterThan(100);
  const kept = new Set((await logOf(dataDir)).map(({ id }) => id));
  expect(acknowledged.filter(({ id }) => !kept.has(id))).toEqual([]);
});
