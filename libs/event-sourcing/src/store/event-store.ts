import type { EventToAppend, StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';

/** The revision the writer saw. There is no "any": a repeated append would not be harmless with it. */
export type ExpectedRevision = 'no_stream' | bigint;

export interface AppendResult {
  /** Revision of the last event appended. */
  readonly revision: bigint;
  readonly position: bigint;
}

export interface ReadOptions {
  /** First revision to read, inclusive. Default: the start, or the end when reading backwards. */
  readonly from?: bigint;
  readonly direction?: 'forwards' | 'backwards';
  /** At most this many events. */
  readonly limit?: number;
}

export interface ReadAllOptions {
  /** Position of the last event not to read; `null`, the default, starts at the beginning, or at the end when reading backwards. */
  readonly after?: bigint | null;
  readonly direction?: 'forwards' | 'backwards';
  /** At most this many events. */
  readonly limit?: number;
  /** Only streams of these categories. The server sends no others. */
  readonly categories?: readonly string[];
}

export interface SubscribeOptions {
  /** Position of the last event already handled; `null` starts at the beginning. */
  readonly after: bigint | null;
  /** Only events of streams in these categories. */
  readonly categories: readonly string[];
  /** Called with positions up to which no matching event is missing, so that a quiet subscriber's checkpoint moves. */
  readonly onCheckpoint?: (position: bigint) => void;
  /** Events of any stream that the server looks at between two checkpoints. Default 32. */
  readonly checkpointEvery?: number;
}

/** What one answer of the event store showed of its clock: the `date` header of HTTP. */
export interface ServerTime {
  /** The header, in whole seconds (ms since the epoch). */
  readonly date: number;
  /** When the call began and when the header came, by this process's monotonic clock (ms). */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** An open catch-up subscription: iterate with for-await, then always `close()` in a `finally`. */
export interface EventSubscription extends AsyncIterable<StoredEvent> {
  close(): Promise<void>;
}

/** The one port to the event store. Its only implementation speaks EventStoreDB's protocol. */
export interface EventStore {
  /**
   * Appends at exactly the revision that the writer saw.
   * @throws WrongExpectedRevision when another writer was first
   * @throws StoreUnavailable when the store cannot be reached, or did not answer in time (`outcomeUnknown`)
   */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>;
  /**
   * Reads one stream; a stream that does not exist yields nothing.
   * @throws CorruptEvent when the beginning of what it would read is truncated or deleted
   */
  read(stream: string, options?: ReadOptions): AsyncIterable<StoredEvent>;
  /** Reads all streams in log order, without system events. */
  readAll(options?: ReadAllOptions): AsyncIterable<StoredEvent>;
  subscribe(options: SubscribeOptions): EventSubscription;
  /** Position of the newest event, or `null` in an empty store. */
  head(): Promise<bigint | null>;
  /** Position of the last event of the log, system events included. No checkpoint is beyond it. `null`: none. */
  end(): Promise<bigint | null>;
  /** The store's clock as it showed it a few seconds ago at most. `null`: it shows none now. */
  serverTime(): Promise<ServerTime | null>;
  close(): Promise<void>;
}

export const EVENT_STORE = Symbol('EventStore');

/** The state of a process's connection to the event store, for probes and metrics. */
export interface StoreConnection {
  /** Reads fail although the store answers others, and new connections did not help: only a new process may. */
  readonly beyondHelp: boolean;
  /** Connections replaced because reads were stuck. */
  readonly renewals: number;
  /** Reads waiting for a slot. */
  readonly waitingReads: number;
  /** Open calls, by kind. */
  openCalls(): { readonly read: number; readonly subscription: number; readonly append: number };
}

export const EVENT_STORE_CONNECTION = Symbol('EventStoreConnection');

/** What settings and programs without settings share. Loads no client. */
export const STORE_DEFAULTS = {
  /** When calls fail for this long (ms) while a fresh connection gets answers, the store opens a new one. */
  stuckAfterMs: 2_500,
  /** A read from a server that sends events slowly fails after this many times the wait for one. */
  wholePageFactor: 10,
} as const;

/**
 * How soon a process leaves a node that has fallen silent (ms), when the address knows other nodes. They elect another
 * leader in about 3 s.
 */
export const CLUSTER_WATCH = { stuckAfterMs: 1_500, pingWithinMs: 500, quietMs: 250 } as const;

/**
 * Most bytes of data and metadata in one append: EventStoreDB's default. KurrentDB 26 takes 256 MB, but another server to
 * which the log may move would refuse what this one took.
 */
export const MOST_APPEND_BYTES = 1_048_576;

/** All events of a bounded read. */
export const collect = async <E>(events: AsyncIterable<E>): Promise<E[]> => {
  const all: E[] = [];
  for await (const event of events) all.push(event);
  return all;
};

/** The store, with these of its methods in place of its own. */
export const intercept = (store: EventStore, doors: Partial<EventStore>): EventStore => ({
  append: (stream, expected, events) => store.append(stream, expected, events),
  read: (stream, options) => store.read(stream, options),
  readAll: (options) => store.readAll(options),
  subscribe: (options) => store.subscribe(options),
  head: () => store.head(),
  end: () => store.end(),
  serverTime: () => store.serverTime(),
  close: () => store.close(),
  ...doors,
});

/**
 * The store as one module sees it. The module reads everything and appends only to its own categories, so it cannot write
 * another module's history.
 */
export const scopedEventStore = (store: EventStore, ownCategories: readonly string[]): EventStore =>
  intercept(store, {
    append(stream, expected, events) {
      if (!ownCategories.includes(categoryOf(stream))) {
        throw new TypeError(
          `Only ${ownCategories.join(', ')} streams may be appended to here, not ${stream}`,
        );
      }
      return store.append(stream, expected, events);
    },
  });
