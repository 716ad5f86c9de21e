import type { StoredEvent } from '../core/event.js';
import { setTimeout as delay } from 'node:timers/promises';
import { isNotLeader, naming, noAnswer } from './classify.js';
import { loadClient } from './clients/load.js';
import { readAddress } from './address.js';
import { openConnection, SEARCH_WITHIN_MS, type Connection, type KnownNodes } from './connection.js';
import { CLUSTER_WATCH, STORE_DEFAULTS, type ClientName } from './defaults.js';
import { keepConnected } from './kept-connection.js';
import { decodeReadAnswer, type ReadAnswer } from './read-answer.js';
import { openReadCall } from './read-call.js';
import type { ReadFilter, ReadRequest } from './read-request.js';
import { readStream } from './read-stream.js';
import type { EventStore } from './event-store.js';
import { afterBarren, BULK_PAGE, pageSizes, readPage } from './page.js';
import { isSelected, patternOf, type StreamSelection } from './stream-selection.js';
import type { StoreConnection } from './store-connection.js';
import type { ServerTime } from './server-time.js';

export interface EventStoreDbOptions {
  /** The package that speaks the protocol. Default: {@link STORE_DEFAULTS}. */
  readonly client?: ClientName;
  /** `esdb://host:port?tls=false` and the like. */
  readonly connectionString: string;
  /** An append without an answer within this has an unknown outcome (the client enforces no deadline itself). */
  readonly appendTimeoutMs: number;
  /** A read fails when it yields nothing, or gets no slot, for this long. */
  readonly readTimeoutMs: number;
  /** See {@link STORE_DEFAULTS}. */
  readonly reads?: number;
  /** See {@link STORE_DEFAULTS}. */
  readonly stuckAfterMs?: number;
  /** Whether the environment's proxies apply. */
  readonly proxyFromEnvironment?: boolean;
  /** Types of events before which operators may truncate a stream. Any other hidden beginning is corrupt. */
  readonly mayBeginWith?: ReadonlySet<string>;
  /** Reports what happens to the connection. */
  readonly report?: (message: string, isWell?: boolean) => void;
}

/** The event store behind one of its clients, and the state of the connection to it. */
export interface EventStoreDb extends EventStore {
  readonly connection: StoreConnection;
}

/** Opens the event store over a connection of its own, which it keeps. */
export const openEventStore = async ({
  client = STORE_DEFAULTS.client,
  connectionString,
  appendTimeoutMs,
  readTimeoutMs,
  reads = STORE_DEFAULTS.reads,
  stuckAfterMs = STORE_DEFAULTS.stuckAfterMs,
  proxyFromEnvironment = false,
  mayBeginWith = new Set(),
  report = () => undefined,
}: EventStoreDbOptions): Promise<EventStoreDb> => {
  const openClient = await loadClient(client);
  let serverTime: ServerTime | null = null;
  const watch = watchOf(connectionString, stuckAfterMs, readTimeoutMs);
  const nodes: KnownNodes = { known: readAddress(connectionString).nodes };
  const kept = keepConnected({
    open: () =>
      openConnection({
        openClient,
        connectionString,
        appendTimeoutMs,
        readTimeoutMs,
        reads,
        proxyFromEnvironment,
        nodes,
        onServerTime: (time) => (serverTime = time),
      }),
    ask: (connection, { isFresh }) =>
      isFresh
        ? answerAfresh(connection, readTimeoutMs)
        : readOnce(connection, endOfLog(1), watch.pingWithinMs, decodeReadAnswer),
    confirmWithinMs: 5 * readTimeoutMs,
    stuckAfterMs: watch.stuckAfterMs,
    quietMs: watch.quietMs,
    report,
  });

  const readAs = <E>(decode: Decode<E>, request: ReadRequest) =>
    kept
      .observed('read', () => readOnce(kept.current(), request, readTimeoutMs, decode))
      .catch((error: unknown) => {
        throw naming(request.stream, error);
      });
  const readEvents = (request: ReadRequest) => readAs(decodeReadAnswer, request);
  const last = async (count: number): Promise<readonly StoredEvent[]> =>
    (await readEvents(endOfLog(count))).filter((stored) => stored !== null);

  return {
    connection: kept,

    append: (stream, expected, events) =>
      kept.observed('append', () => kept.current().appends.append(stream, expected, events)),

    read: (stream, options = {}) => readStream(readEvents, stream, options, mayBeginWith),

    async *readAll({ after = null, direction = 'forwards', limit = Infinity, only } = {}) {
      const forwards = direction === 'forwards';
      const filter = only && filterOf(only);
      let [left, reached, least] = [limit, after, 0];
      for (const size of pageSizes(limit < Infinity)) {
        if (left <= 0) return;
        const before = reached;
        // The server may repeat the event at the start position.
        const wanted = Math.max(Math.min(size, left), least);
        const asked = wanted + (before === null ? 0 : 1);
        // There may be many system events.
        least = afterBarren(wanted);
        const page = await readEvents(partOfLog(before, forwards, asked, filter));
        for (const event of page) {
          if (!event || event.position === reached) continue;
          reached = event.position;
          if (only && !isSelected(only, event.stream)) continue;
          if (event.type.startsWith('$') || event.stream.startsWith('$')) continue;
          least = 0;
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

    serverTime: () => serverTime,

    close: () => kept.close(),
  };
};

interface WatchTimes {
  readonly stuckAfterMs: number;
  readonly quietMs: number;
  /** Longest wait for an answer over the connection in use. */
  readonly pingWithinMs: number;
}

const LONGEST_QUIET_MS = 5_000;

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
        quietMs: Math.min(LONGEST_QUIET_MS, stuckAfterMs / 3),
        pingWithinMs: readTimeoutMs,
      };

type Decode<E> = (message: Buffer) => ReadAnswer<E>;
/** Events that the server looks at before it looks whether the call still stands. */
const SEARCH_WINDOW = 500;

const filterOf = (only: StreamSelection): ReadFilter => ({
  on: 'stream',
  by: { regex: patternOf(only) },
  searchWindow: SEARCH_WINDOW,
});

/** @param before a position that the server may repeat; `null`: from the beginning, or from the end when reading backwards */
const partOfLog = (
  before: bigint | null,
  forwards: boolean,
  count: number,
  filter?: ReadFilter,
): ReadRequest => ({
  stream: null,
  from: before ?? (forwards ? 'start' : 'end'),
  backwards: !forwards,
  count,
  ...(filter && { filter }),
});

const endOfLog = (count: number): ReadRequest => partOfLog(null, false, count);

/**
 * The answer over a fresh connection. The search for the leader has its own time. From then on the node has as long as it has
 * for other reads: if it is slow for everybody, a new connection does not help.
 */
const answerAfresh = async (connection: Connection, readTimeoutMs: number): Promise<unknown> => {
  const answer = readOnce(connection, endOfLog(1), SEARCH_WITHIN_MS + readTimeoutMs, decodeReadAnswer);
  const tooLate = async (): Promise<never> => {
    await connection.located;
    await delay(readTimeoutMs, undefined, { ref: false });
    throw noAnswer('read over a fresh connection', readTimeoutMs, false);
  };
  return Promise.race([answer, tooLate()]);
};

/** The client needs a moment to leave a node that is not the leader. */
const SWITCH_MS = 20;

/**
 * Reads require the leader. During an election the client may reach a follower, stay there, and fold streams that lack
 * their newest events. The refusal names the leader, and the client moves there.
 */
const readOnce = async <E>(
  { client, slots }: Connection,
  request: ReadRequest,
  timeoutMs: number,
  decode: Decode<E>,
): Promise<readonly (E | null)[]> => {
  const call = () => openReadCall(client, request, { decode, requiresLeader: true });
  const read = () => readPage(slots, call, timeoutMs);
  return read().catch(async (error: unknown) => {
    if (!isNotLeader(error)) throw error;
    await delay(SWITCH_MS);
    return read();
  });
};
