import {
  DeadlineExceededError,
  jsonEvent,
  NotLeaderError,
  UnknownError,
  WrongExpectedVersionError,
  type JSONEventData,
  type JSONType,
} from '@eventstore/db-client';
import type { EventToAppend } from '../core/event.js';
import { beforeDeadline } from '../timing/deadline.js';
import { CallSlots } from './call-slots.js';
import { classify, noAnswer } from './classify.js';
import { MOST_APPEND_BYTES } from './defaults.js';
import { AppendTooLarge, StoreUnavailable, WrongExpectedRevision } from './errors.js';
import type { AppendResult, ExpectedRevision } from './event-store.js';
import type { StoreClient } from './store-client.js';

/** The appends of one connection. */
export interface Appends {
  /** All appends share one call, which stays open. */
  readonly openCalls: 0 | 1;
  /** @throws AppendTooLarge, WrongExpectedRevision, StoreUnavailable, Error as the server refuses */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>;
  close(): Promise<void>;
}

/**
 * The client queues messages behind the sixteenth that is not sent, and when the call breaks, it rejects those in the
 * queue where nobody can catch it: the process would end.
 */
const MOST_UNANSWERED = 15;
/** Others wait in the adapter, each as long as an append may take. */
const MOST_WAITING = 5_000;
/**
 * Milliseconds. The client sends a deadline as an instant of our clock, and a server whose clock is ahead would refuse
 * every append. The server's own time limit applies.
 */
const FAR_DEADLINE_MS = 365 * 86_400_000;

interface Open {
  readonly client: Promise<StoreClient>;
  readonly slots: CallSlots;
}

/**
 * Appends with a client of their own: the client keeps one bank of waiting appends for the whole process, and when one
 * call breaks, it rejects those of all calls, and a late answer to one of them ends the process. So there is one call at a
 * time: the next client opens once the former one is closed. It opens after an outcome that a node left unknown, because
 * the node may lead no longer.
 * @param open makes a client; `search`: of the node that leads, since the one that the address names may not
 * @param former the end of other appends of this process
 * @param timeoutMs an append without an answer within this has an unknown outcome; the client enforces no deadline itself
 */
export const openAppends = (
  open: (search: boolean) => Promise<StoreClient>,
  timeoutMs: number,
  former: Promise<void> = Promise.resolve(),
): Appends => {
  let closing = former;
  let closed = false;
  /** Whether a node has refused as one that leads no longer. */
  let search = false;
  let current: Open | null = null;

  const opened = (): Open => {
    if (current) return current;
    const client = closing.then(() => {
      if (closed) throw new StoreUnavailable('The connection to the event store is closed', false);
      return open(search);
    });
    const slots = new CallSlots(MOST_UNANSWERED, timeoutMs, { mostWaiting: MOST_WAITING, of: 'appends' });
    return (current = { client, slots });
  };

  const leave = (left: Open | null): Promise<void> => {
    if (left && left === current) {
      current = null;
      closing = left.client.then(
        (client) => client.close(),
        () => undefined,
      );
    }
    return closing;
  };

  const send = async (given: Given, progress: { sent: boolean; givenUp: boolean }): Promise<AppendResult> => {
    const used = opened();
    const release = await used.slots.take();
    try {
      const client = await used.client.catch((error: unknown) => {
        void leave(used);
        throw error;
      });
      if (progress.givenUp) throw noAnswer(`append to ${given.stream}`, timeoutMs, false);
      // It was left while this append waited.
      if (used !== current) return await send(given, progress);
      progress.sent = true;
      return await appendTo(client, given).catch((error: unknown) => {
        search ||= isRefusalOfNode(error);
        if (leavesNodeInDoubt(error)) void leave(used);
        throw refusal(error, given);
      });
    } finally {
      release();
    }
  };

  return {
    get openCalls() {
      return current ? 1 : 0;
    },
    append: async (stream, expected, events) => {
      const progress = { sent: false, givenUp: false };
      const sending = send({ stream, expected, events: proposed(stream, events) }, progress);
      return beforeDeadline(timeoutMs, sending, () => {
        progress.givenUp = true;
        throw noAnswer(`append to ${stream}`, timeoutMs, progress.sent);
      });
    },
    close: () => {
      closed = true;
      return leave(current);
    },
  };
};

interface Given {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly JSONEventData[];
}

const appendTo = async (client: StoreClient, { stream, expected, events }: Given): Promise<AppendResult> => {
  const { nextExpectedRevision, position } = await client.appendToStream(stream, [...events], {
    expectedRevision: expected,
    requiresLeader: true,
    deadline: FAR_DEADLINE_MS,
  });
  return { revision: nextExpectedRevision, position: position?.commit ?? 0n };
};

const TEXT = new TextEncoder();

/**
 * Metadata as bytes: the client would make Base64 of it, and bytes of that. EventStoreDB's own projections look for the
 * names with a dollar.
 * @throws AppendTooLarge, counted as the server does: types twice
 */
const proposed = (stream: string, events: readonly EventToAppend[]): JSONEventData[] => {
  let bytes = 0;
  const ready = events.map(({ id, type, data, metadata }) => {
    const { correlationId, causationId } = metadata;
    const all = { ...metadata, $correlationId: correlationId, $causationId: causationId };
    const encoded = TEXT.encode(JSON.stringify(all));
    bytes += Buffer.byteLength(JSON.stringify(data)) + encoded.length + 2 * type.length;
    return jsonEvent({ id, type, data: data as JSONType, metadata: encoded });
  });
  if (bytes > MOST_APPEND_BYTES)
    throw new AppendTooLarge(`${bytes} bytes for ${stream} are more than ${MOST_APPEND_BYTES} in one append`);
  return ready;
};

const refusal = (error: unknown, { stream, expected }: Given): unknown =>
  error instanceof WrongExpectedVersionError
    ? new WrongExpectedRevision(stream, expected, error.actualVersion)
    : classify(error, true);

/** Not when the node answers that a write took too long, or which one leads: the client goes there by itself. */
const leavesNodeInDoubt = (error: unknown): boolean =>
  classify(error, true) instanceof StoreUnavailable &&
  !(error instanceof DeadlineExceededError || error instanceof NotLeaderError);

/** Of one append, while the call stands. */
const isRefusalOfNode = (error: unknown): boolean =>
  error instanceof UnknownError && error.code === undefined;
