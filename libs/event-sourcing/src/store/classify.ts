import { CorruptEvent } from '../core/event-catalogue.js';
import { AppendTooLarge, StoreDamaged, StoreUnavailable } from './errors.js';

/**
 * gRPC codes of a broken connection, a server that is not ready, and one that stops (CANCELLED, UNKNOWN,
 * DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE), and Node's code of a stream closed while read.
 */
const CONNECTION_CODES = new Set<number | string>([1, 2, 4, 8, 10, 13, 14, 'ERR_STREAM_PREMATURE_CLOSE']);
const CONNECTION_TYPES = new Set([
  'unavailable',
  'cancelled',
  'deadline-exceeded',
  'timeout',
  'not-leader',
  'unknown',
]);
/** Of the client between two nodes: the channel closed before the call started. */
const CONNECTION_MESSAGES = /^Channel has been shut down/;

/** A limit on one append or, since KurrentDB 26, on one event of it. The client knows the second by its text only. */
const TOO_LARGE = /maximum ?append ?(event ?)?size/i;

/** gRPC code of a store whose stored bytes do not match their checksums. */
const DATA_LOSS = 15;

/** What the client's errors and raw ones of a call have, each some of it. */
interface ClientError {
  readonly type?: string;
  readonly code?: number | string;
  readonly message?: string;
  readonly details?: string;
  readonly streamName?: string;
  /** The raw one. */
  readonly _raw?: { readonly details?: string };
}

const detailsOf = ({ _raw: raw, details, message = '' }: ClientError): string =>
  raw?.details ?? details ?? message;

/** Nobody can write to it or read it again, not even after a restore of the same log. */
const TOMBSTONED =
  "the stream has a tombstone: somebody deleted it for good with the event store's own tools";

/** `appending`: whether a failure leaves the outcome unknown. */
export const noAnswer = (what: string, timeoutMs: number, appending: boolean): StoreUnavailable =>
  new StoreUnavailable(`The event store gave no answer to ${what} in ${timeoutMs} ms`, appending);

/** The one place that classifies the client's errors: some carry a type, some only a gRPC code, some neither. */
export const classify = (thrown: unknown, appending: boolean): unknown => {
  if (thrown instanceof StoreUnavailable) return thrown;
  const error = thrown as ClientError;
  const { type, code, message = '', streamName = '' } = error;
  if (type === 'stream-deleted')
    return new CorruptEvent({ stream: streamName, revision: 0n, type: 'hidden' }, TOMBSTONED);
  if (code === DATA_LOSS) return new StoreDamaged(detailsOf(error), { cause: thrown });
  if (type === 'maximum-append-size-exceeded' || TOO_LARGE.test(message) || TOO_LARGE.test(detailsOf(error)))
    return new AppendTooLarge(`The event store takes no append of this size: ${detailsOf(error)}`, {
      cause: thrown,
    });
  const known =
    (type && CONNECTION_TYPES.has(type)) ||
    (code !== undefined && CONNECTION_CODES.has(code)) ||
    CONNECTION_MESSAGES.test(message);
  return known
    ? new StoreUnavailable('The event store is not reachable', appending, { cause: thrown })
    : thrown;
};

/** The server names its file and the damaged record: this names the stream whose read met it, if the read was of one. */
export const naming = (stream: string | null, error: unknown): unknown =>
  stream !== null && error instanceof StoreDamaged
    ? new StoreDamaged(`The stream ${stream} cannot be read: ${error.message}`, { cause: error.cause })
    : error;

/** For an error that is already classified. */
export const isNotLeader = (error: unknown): boolean =>
  error instanceof StoreUnavailable && (error.cause as ClientError | undefined)?.type === 'not-leader';
