import { BACKWARDS, END, FORWARDS, START } from '@eventstore/db-client';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '../core/event.js';
import { beforeDeadline } from '../timing/deadline.js';
import { readAddress } from './address.js';
import { isNotLeader, naming, noAnswer } from './errors.js';
import { openConnection, SEARCH_WITHIN_MS, type Connection, type ConnectionOptions } from './connection.js';
import { CLUSTER_WATCH, STORE_DEFAULTS, type EventStore, type StoreConnection } from './event-store.js';
import { eventsUpTo } from './events-up-to.js';
import { keepConnected } from './kept-connection.js';
import {
  PAGE,
  readPage,
  type FiniteRead,
  readStream,
  type ReadEvents,
  type ReadRequest,
} from './read-stream.js';
import { readServerTime } from './server-time.js';
import type { StoreClient } from './store-client.js';

export interface EventStoreDbOptions extends ConnectionOptions {
  /** See {@link STORE_DEFAULTS}. */
  readonly stuckAfterMs?: number;
  /** Types of events before which operators may truncate a stream. Any other hidden beginning is corrupt. */
  readonly mayBeginWith?: ReadonlySet<string>;
  /** Reports what happens to the connection. */
  readonly report?: (message: string, isWell?: boolean) => void;
}

/** The event store behind its client, and the state of the connection to it. */
export interface EventStoreDb extends EventStore {
  readonly connection: StoreConnection;
}

/** Opens the event store over a connection of its own, which it keeps. */
export const openEventStore = async ({
  connectionString,
  appendTimeoutMs,
  readTimeoutMs,
  stuckAfterMs = STORE_DEFAULTS.stuckAfterMs,
  mayBeginWith = new Set(),
  report = () => undefined,
}: EventStoreDbOptions): Promise<EventStoreDb> => {
  const watch = watchOf(connectionString, stuckAfterMs, readTimeoutMs);
  const kept = keepConnected({
    open: () => openConnection({ connectionString, appendTimeoutMs, readTimeoutMs }),
    ask: (connection, { isFresh }) =>
      isFresh
        ? answerAfresh(connection, readTimeoutMs)
        : readOnce(connection, endOfLog(1), watch.pingWithinMs),
    confirmWithinMs: 5 * readTimeoutMs,
    stuckAfterMs: watch.stuckAfterMs,
    quietMs: watch.quietMs,
    report,
  });

  const readEvents: ReadEvents = (request) =>
    kept
      .observed(() => readOnce(kept.current(), request, readTimeoutMs))
      .catch((error: unknown) => {
        throw naming(request.stream, error);
      });
  const last = (count: number): Promise<readonly StoredEvent[]> => readEvents(endOfLog(count));

  const store: EventStoreDb = {
    connection: kept,

    append: (stream, expected, events) => kept.current().appends.append(stream, expected, events),

    read: (stream, options = {}) => readStream(readEvents, stream, options, mayBeginWith),

    async *readAll({ after = null, direction = 'forwards', limit = Infinity, categories } = {}) {
      if (categories) {
        yield* readCategories(store, categories, after, limit);
        return;
      }
      let [left, reached, barren] = [limit, after, false];
      for (;;) {
        if (left <= 0) return;
        const before = reached;
        // The server may repeat the event at the start position. After a page of system events, there may be many more.
        const asked = barren ? PAGE : Math.min(PAGE, left + (before === null ? 0 : 1));
        barren = true;
        const page = await readEvents(partOfLog(before, direction === 'forwards', asked));
        for (const event of page) {
          if (event.position === reached) continue;
          reached = event.position;
          if (event.type.startsWith('$') || event.stream.startsWith('$')) continue;
          barren = false;
          yield event;
          left -= 1;
          if (left <= 0) return;
        }
        if (page.length < asked || reached === before) return;
      }
    },

    subscribe: (request) => kept.subscribe(request),

    async head() {
      // System events may be newer than ours. When they fill the page, the newest of them serves as well: none of our
      // events comes after it, and `null` would send a new consumer back to the beginning.
      let newest: bigint | null = null;
      for (const count of [1, 64]) {
        const events = await last(count);
        const own = events.find(({ stream }) => !stream.startsWith('$'));
        if (own) return own.position;
        newest ??= events[0]?.position ?? null;
      }
      return newest;
    },

    async end() {
      return (await last(1))[0]?.position ?? null;
    },

    serverTime: readServerTime(connectionString),

    close: () => kept.close(),
  };
  return store;
};

/** The server filters subscriptions to the log, and no reads of it. */
async function* readCategories(
  store: EventStoreDb,
  categories: readonly string[],
  after: bigint | null,
  limit: number,
): AsyncGenerator<StoredEvent> {
  const to = await store.end();
  if (to === null || (after !== null && to <= after)) return;
  let left = limit;
  for await (const event of eventsUpTo(store, { categories, after, to })) {
    if (left <= 0) return;
    yield event;
    left -= 1;
  }
}

interface WatchTimes {
  readonly stuckAfterMs: number;
  readonly quietMs: number;
  /** Longest wait for an answer over the connection in use. */
  readonly pingWithinMs: number;
}

const MAX_QUIET_MS = 5_000;

/** One node alone is worth waiting for a little: its silence may be a pause, and nobody else can answer. */
const watchOf = (connectionString: string, stuckAfterMs: number, readTimeoutMs: number): WatchTimes =>
  readAddress(connectionString).isCluster
    ? {
        stuckAfterMs: Math.min(stuckAfterMs, CLUSTER_WATCH.stuckAfterMs),
        quietMs: CLUSTER_WATCH.quietMs,
        pingWithinMs: Math.min(readTimeoutMs, CLUSTER_WATCH.pingWithinMs),
      }
    : {
        stuckAfterMs,
        quietMs: Math.min(MAX_QUIET_MS, stuckAfterMs / 3),
        pingWithinMs: readTimeoutMs,
      };

/** @param before a position that the server may repeat; `null`: from the beginning, or from the end when reading backwards */
const partOfLog = (before: bigint | null, forwards: boolean, count: number): ReadRequest => ({
  stream: null,
  from: before ?? (forwards ? START : END),
  backwards: !forwards,
  count,
});

const endOfLog = (count: number): ReadRequest => partOfLog(null, false, count);

/**
 * The answer over a fresh connection. The search for the leader has its own time. From then on the node has as long as it has
 * for other reads: if it is slow for everybody, a new connection does not help.
 */
const answerAfresh = async (connection: Connection, readTimeoutMs: number): Promise<unknown> => {
  await beforeDeadline(SEARCH_WITHIN_MS + readTimeoutMs, connection.located(), () => {
    throw noAnswer('the search for the leader', SEARCH_WITHIN_MS, false);
  });
  return readOnce(connection, endOfLog(1), readTimeoutMs);
};

/** The client needs a moment to leave a node that is not the leader. */
const SWITCH_MS = 20;

/**
 * Reads require the leader. During an election the client may reach a follower, stay there, and fold streams that lack
 * their newest events. The refusal names the leader, and the client moves there.
 */
const readOnce = async (
  connection: Connection,
  request: ReadRequest,
  timeoutMs: number,
): Promise<readonly StoredEvent[]> => {
  const start = async () => startRead(await connection.located(), request);
  const read = () => readPage(connection.slots, start, timeoutMs);
  return read().catch(async (error: unknown) => {
    if (!isNotLeader(error)) throw error;
    await delay(SWITCH_MS);
    return read();
  });
};

const startRead = (client: StoreClient, { stream, from, backwards, count }: ReadRequest): FiniteRead => {
  const options = {
    direction: backwards ? BACKWARDS : FORWARDS,
    maxCount: count,
    requiresLeader: true,
  } as const;
  return stream === null
    ? client.readAll({
        ...options,
        fromPosition: typeof from === 'bigint' ? { commit: from, prepare: from } : from,
      })
    : client.readStream(stream, { ...options, fromRevision: from });
};
