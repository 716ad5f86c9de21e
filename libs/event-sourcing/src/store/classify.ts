import { WrongExpectedVersionError } from '@eventstore/db-client';
import { AppendTooLarge, StoreDamaged, StoreUnavailable, WrongExpectedRevision } from './errors.js';
import type { ExpectedRevision } from './event-store.js';

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
/** Errors of the client between two nodes: no leader found, or the channel closed before the call started. */
const CONNECTION_MESSAGES = /^Failed to discover after|^Channel has been shut down/;

/** A limit on one append or, since KurrentDB 26, on one event of it. The older client knows the second by its text only. */
const TOO_LARGE = /maximum ?append ?(event ?)?size/i;

/** gRPC code of a store whose stored bytes do not match their checksums. */
const DATA_LOSS = 15;

const detailsOf = (error: unknown): string => {
  const { _raw: raw, message = '' } = error as { _raw?: { details?: string }; message?: string };
  return raw?.details ?? message;
};

/** `appending`: whether a failure leaves the outcome unknown. */
export const noAnswer = (what: string, timeoutMs: number, appending: boolean): StoreUnavailable =>
  new StoreUnavailable(`The event store gave no answer to ${what} in ${timeoutMs} ms`, appending);

/** The one place that classifies the client's errors: some carry a type, some only a gRPC code, some neither. */
export const classify = (error: unknown, appending: boolean): unknown => {
  if (error instanceof WrongExpectedVersionError) {
    const { streamName, expectedVersion, actualVersion } = error;
    return new WrongExpectedRevision(streamName, expectedVersion as ExpectedRevision, actualVersion);
  }
  if (error instanceof StoreUnavailable) return error;
  const { type, code, message = '' } = error as { type?: string; code?: number | string; message?: string };
  if (code === DATA_LOSS) return new StoreDamaged(detailsOf(error), { cause: error });
  if (type === 'maximum-append-size-exceeded' || TOO_LARGE.test(message) || TOO_LARGE.test(detailsOf(error)))
    return new AppendTooLarge(`The event store takes no append of this size: ${detailsOf(error)}`, {
      cause: error,
    });
  const known =
    (type && CONNECTION_TYPES.has(type)) ||
    (code !== undefined && CONNECTION_CODES.has(code)) ||
    CONNECTION_MESSAGES.test(message);
  return known
    ? new StoreUnavailable('The event store is not reachable', appending, { cause: error })
    : error;
};

/** For an error that is already classified. */
export const isNotLeader = (error: unknown): boolean =>
  error instanceof StoreUnavailable && (error.cause as { type?: string } | undefined)?.type === 'not-leader';
