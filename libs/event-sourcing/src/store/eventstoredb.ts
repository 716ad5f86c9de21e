import {
  BACKWARDS,
  END,
  EventStoreDBClient,
  FORWARDS,
  START,
  StreamNotFoundError,
  WrongExpectedVersionError,
  excludeSystemEvents,
  jsonEvent,
  streamNameFilter,
  type AllStreamSubscription,
  type JSONType,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventMetadata, EventToAppend, StoredEvent } from '../core/event.js';
import { StoreUnavailable, WrongExpectedRevision } from './errors.js';
import './native-base64.js';
import type {
  AppendResult,
  EventStore,
  EventSubscription,
  ExpectedRevision,
  ReadOptions,
  SubscribeOptions,
} from './event-store.js';

export interface EventStoreDbOptions {
  /** `esdb://host:port?tls=false` and the like. */
  readonly connectionString: string;
  /** An append that is not answered within this is of unknown outcome (the client enforces no deadline itself). */
  readonly appendTimeoutMs: number;
  /** A read that yields nothing for this long is given up. */
  readonly readTimeoutMs: number;
}

/**
 * The event store behind @eventstore/db-client. Open one per process: the client's append bank is global to its
 * module, so a second client would share the first one's failures.
 */
export const openEventStore = (options: EventStoreDbOptions): EventStore => {
  const client = EventStoreDBClient.connectionString(options.connectionString);

  const appendOnce = async (
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventToAppend[],
  ): Promise<AppendResult> => {
    const answer = client.appendToStream(stream, events.map(toClientEvent), { expectedRevision: expected });
    const result = await withinDeadline(answer, options.appendTimeoutMs, `append to ${stream}`, true);
    return { revision: result.nextExpectedRevision, position: result.position?.commit ?? 0n };
  };

  return {
    async append(stream, expected, events) {
      try {
        return await appendOnce(stream, expected, events);
      } catch (error) {
        throw classify(error, true);
      }
    },

    read(stream: string, { from, direction = 'forwards', limit }: ReadOptions = {}) {
      const forwards = direction === 'forwards';
      const events = client.readStream(stream, {
        fromRevision: from ?? (forwards ? START : END),
        direction: forwards ? FORWARDS : BACKWARDS,
        ...(limit === undefined ? {} : { maxCount: limit }),
      });
      return readAsStored(events, options.readTimeoutMs);
    },

    async *readAll({ after = null, direction = 'forwards', limit } = {}) {
      const forwards = direction === 'forwards';
      const events = client.readAll({
        fromPosition: after === null ? (forwards ? START : END) : { commit: after, prepare: after },
        direction: forwards ? FORWARDS : BACKWARDS,
      });
      let left = limit ?? Infinity;
      for await (const event of readAsStored(events, options.readTimeoutMs)) {
        if (event.type.startsWith('$') || event.stream.startsWith('$') || event.position === after) continue;
        if (left <= 0) return;
        left -= 1;
        yield event;
      }
    },

    subscribe: (request) => openSubscription(client, request),

    async head() {
      // System events may be newer than ours. When they fill the page, the newest of them serves as well: nothing of
      // ours comes after it, and `null` would send a consumer that is born now back to the beginning.
      const events = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 64 });
      let newest: bigint | null = null;
      for await (const event of readAsStored(events, options.readTimeoutMs)) {
        if (!event.stream.startsWith('$')) return event.position;
        newest ??= event.position;
      }
      return newest;
    },

    async end() {
      const events = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
      for await (const event of readAsStored(events, options.readTimeoutMs)) return event.position;
      return null;
    },

    close: () => settledSoon(client.dispose()),
  };
};

const utf8 = new TextEncoder();

/** Metadata goes as bytes, which spares it the way through Base64 that data takes. */
const toClientEvent = (event: EventToAppend) =>
  jsonEvent({
    id: event.id,
    type: event.type,
    data: event.data as JSONType,
    metadata: utf8.encode(
      JSON.stringify({
        ...event.metadata,
        $correlationId: event.metadata.correlationId,
        $causationId: event.metadata.causationId,
      }),
    ),
  });

const toStored = ({ event }: ResolvedEvent): StoredEvent | null =>
  (event && {
    id: event.id,
    stream: event.streamId,
    revision: event.revision,
    position: event.position?.commit ?? 0n,
    type: event.type,
    data: event.data,
    metadata: event.metadata as unknown as EventMetadata,
  }) ||
  null;

/**
 * The events of a finite read. What has arrived is taken without waiting, and one timer serves all waits: with thousands
 * of events a second, a promise and a timer for each would be most of the work.
 */
async function* readAsStored(
  events: StreamingRead<ResolvedEvent>,
  timeoutMs: number,
): AsyncGenerator<StoredEvent> {
  let wake = (): void => undefined;
  let failure: Error | undefined;
  let giveUp = (_: Error): void => undefined;
  const onChange = (): void => wake();
  const onError = (error: Error): void => {
    failure = error;
    wake();
  };
  events.on('readable', onChange).on('end', onChange).on('close', onChange).on('error', onError);
  const deadline = setTimeout(() => giveUp(noAnswer('read', timeoutMs, false)), timeoutMs);
  try {
    for (;;) {
      const resolved = events.read() as ResolvedEvent | null;
      const stored = resolved && toStored(resolved);
      if (stored) yield stored;
      if (resolved) continue;
      if (failure !== undefined) throw failure;
      if (events.readableEnded) return;
      if (events.destroyed) throw new StoreUnavailable('The read was cut off', false);
      // One that ran out while the reader was busy gave up a wait that was over.
      deadline.refresh();
      await new Promise<void>((resolve, reject) => ([wake, giveUp] = [resolve, reject]));
    }
  } catch (error) {
    if (error instanceof StreamNotFoundError) return;
    throw classify(error, false);
  } finally {
    clearTimeout(deadline);
    // A reader that stops early would otherwise leave the call open on the server.
    events.destroy();
  }
}

/** Subscriptions exclude the position they start from, so the checkpoint itself is the argument. */
const openSubscription = (client: EventStoreDBClient, request: SubscribeOptions): EventSubscription => {
  const { after, categories, onCheckpoint } = request;
  const fromPosition = after === null ? START : { commit: after, prepare: after };
  const checkpointReached = (_: AllStreamSubscription, position: { commit: bigint }): void =>
    onCheckpoint?.(position.commit);
  const filter =
    categories.length === 0
      ? excludeSystemEvents({ checkpointInterval: 1, checkpointReached })
      : streamNameFilter({
          prefixes: categories.map((category) => `${category}-`),
          checkpointInterval: 1,
          checkpointReached,
        });
  const subscription = client.subscribeToAll({ fromPosition, filter });
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for await (const resolved of subscription) {
          const stored = toStored(resolved);
          if (stored) yield stored;
        }
      } catch (error) {
        throw classify(error, false);
      }
    },
    async close() {
      await settledSoon(subscription.unsubscribe());
      subscription.destroy();
    },
  };
};

const LET_GO_WITHIN_MS = 1_000;

/** The client may wait for ever for streams that broke: what is being given up is waited for a moment only. */
const settledSoon = async (work: Promise<unknown>): Promise<void> => {
  const moment = new AbortController();
  await Promise.race([
    work.catch(() => undefined),
    delay(LET_GO_WITHIN_MS, undefined, { signal: moment.signal }).catch(() => undefined),
  ]);
  moment.abort();
};

/** `appending`: whether giving up leaves the outcome unknown. */
const noAnswer = (what: string, timeoutMs: number, appending: boolean): StoreUnavailable =>
  new StoreUnavailable(`The event store gave no answer to ${what} in ${timeoutMs} ms`, appending);

const withinDeadline = async <T>(
  work: Promise<T>,
  timeoutMs: number,
  what: string,
  appending: boolean,
): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer(what, timeoutMs, appending)), timeoutMs);
  });
  try {
    // The race keeps listening: the client may reject its promise long after we stopped waiting for it.
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};

/** gRPC codes of a connection that broke or a server that is not ready. */
const CONNECTION_CODES = new Set([1, 4, 8, 13, 14]);
const CONNECTION_TYPES = new Set([
  'unavailable',
  'cancelled',
  'deadline-exceeded',
  'timeout',
  'not-leader',
  'unknown',
]);

/** The one place that tells the client's errors apart; some carry a type, some only a gRPC code. */
const classify = (error: unknown, appending: boolean): unknown => {
  if (error instanceof WrongExpectedVersionError) {
    const { streamName, expectedVersion, actualVersion } = error;
    return new WrongExpectedRevision(streamName, expectedVersion as ExpectedRevision, actualVersion);
  }
  if (error instanceof StoreUnavailable) return error;
  const { type, code } = error as { type?: string; code?: number };
  if ((type && CONNECTION_TYPES.has(type)) || (code !== undefined && CONNECTION_CODES.has(code))) {
    return new StoreUnavailable('The event store is not reachable', appending, { cause: error });
  }
  return error;
};
