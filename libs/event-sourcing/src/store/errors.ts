import type { ExpectedRevision } from './event-store.js';
import { CorruptEvent } from '../core/event-catalogue.js';
import { ClockUntrusted } from '../core/clock.js';

/** Another writer appended first. */
export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`${stream} is at ${actual}, not ${expected}`);
  }
}

/** The store answers that its own data is damaged. Waiting does not help: somebody must restore a backup. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

/** More than one append may carry. Nothing was written, and no retry helps. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
}

/** The store cannot be reached, is not ready, or gave no answer in time. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  constructor(
    message: string,
    /** True when the append may have been committed: only a retry with the same ids and revision shows it. */
    readonly outcomeUnknown: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Of the store itself: its connection reports that, once for the whole process. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof StoreUnavailable && error.constructor === StoreUnavailable;

/** gRPC codes PERMISSION_DENIED and UNAUTHENTICATED. */
const NOT_PERMITTED = new Set<unknown>([7, 16]);

/** Whether the event store refuses this login or a right that it lacks: the same call fails until somebody grants it. */
export const isAccessDenied = (error: unknown): boolean => {
  const { type, code } = (error ?? {}) as { type?: unknown; code?: unknown };
  return type === 'access-denied' || NOT_PERMITTED.has(code);
};

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

/**
 * SQLSTATE classes and socket errors of a database that is unavailable, starts, stops, timed out, or lost a race. Also
 * of one whose table, column or schema is missing, or whose rights are (42P01, 42703, 3F000, 42501): an operator restores
 * them, and until then nobody may move past work that was not written.
 */
const AWAY_CODES =
  /^(08|57|58|53|25006|40001|40P01|42P01|42703|3F000|42501|55P03|ECONN|EPIPE|ETIMEDOUT|ENOENT|EAI_AGAIN)/;
const AWAY_MESSAGES =
  /connection terminated|query read timeout|not queryable|timeout exceeded when trying to connect|connection error|cannot use a pool after/i;

/** True when the event store, PostgreSQL or a clock is at fault, not the request: the same work may succeed later. */
export const isDependencyAway = (error: unknown): boolean => {
  if (error instanceof StoreUnavailable || error instanceof ClockUntrusted) return true;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && AWAY_CODES.test(code)) return true;
  return typeof message === 'string' && AWAY_MESSAGES.test(message);
};

/** PostgreSQL names a table, column or right in the messages of these, and no value. */
const WITHOUT_VALUES = /^(42P01|42703|3F000|42501)$/;

/** Describes an error for logs and tables. Leaves out PostgreSQL's message where it may contain the values of a row. */
export const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code, severity, schema, table, constraint } = error as Error & Readonly<Record<string, unknown>>;
  if (typeof severity !== 'string') return `${error.name}: ${error.message}`;
  if (WITHOUT_VALUES.test(String(code))) return `SQLSTATE ${String(code)}: ${error.message}`;
  const where = [schema, table, constraint].filter((part) => typeof part === 'string').join('.');
  return `SQLSTATE ${String(code)}${where && ` at ${where}`}`;
};

/** SQLSTATE classes that depend on the row: data, constraints, program limits, and errors that functions raise. */
const ABOUT_THE_ROW = /^(22|23|54|P0)/;

/**
 * Whether an event may be at fault, and not a store: a missing table or right would fail for every event, and damage
 * waits for a backup. The caller has already excluded a dependency that is away.
 */
export const isEventsFault = (error: unknown): boolean => {
  if (error instanceof StoreDamaged || isAccessDenied(error)) return false;
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof severity !== 'string' || (typeof code === 'string' && ABOUT_THE_ROW.test(code));
};
