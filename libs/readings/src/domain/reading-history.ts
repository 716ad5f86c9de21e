import { isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import type { FailureCode, ReadingEvent } from '../contracts/events.js';

export const HISTORY_TYPES = [
  'requested',
  'started',
  'attempt_failed',
  'delayed',
  'completed',
  'failed',
  'erased',
  'unreadable',
] as const;

/**
 * One event of a reading as its owner sees it: type, time and public facts. Shows nothing sealed and nothing internal.
 */
export interface HistoryEvent {
  /** Its place in the history of the reading: from 0, without gaps. */
  readonly revision: number;
  readonly type: (typeof HISTORY_TYPES)[number];
  /** RFC 3339 UTC. */
  readonly occurredAt: string;
  readonly data: {
    readonly cost?: number | undefined;
    readonly attempt?: number | undefined;
    readonly code?: FailureCode | undefined;
    readonly retryAt?: string | undefined;
    readonly attempts?: number | undefined;
  };
}

/** What each event shows: its type, and the facts of its data. An abandoned reservation is no entry. */
const SHOWN: Readonly<
  Record<ReadingEvent['type'], readonly [HistoryEvent['type'], ...(keyof HistoryEvent['data'])[]] | null>
> = {
  ReadingRequested: ['requested', 'cost'],
  ReadingStarted: ['started', 'attempt'],
  ReadingAttemptFailed: ['attempt_failed', 'attempt', 'code', 'retryAt'],
  ReadingDelayed: ['delayed'],
  ReadingCompleted: ['completed', 'attempt'],
  ReadingFailed: ['failed', 'code', 'attempts'],
  ReadingErased: ['erased'],
  ReadingAbandoned: null,
};

/**
 * The history's entry for a recorded event: `unreadable`, without its facts, for one that cannot be read. `null` for an
 * abandoned reservation: the same Idempotency-Key, sent again after a 503, got another reservation.
 * @param revision number of earlier entries in the reading's history
 */
export const historyEvent = (
  event: Recorded<ReadingEvent> | OpaqueEvent,
  revision: number,
): HistoryEvent | null => {
  if (isOpaque(event)) {
    const occurredAt = new Date(event.stored.metadata.occurredAt).toISOString();
    return { revision, occurredAt, type: 'unreadable', data: {} };
  }
  const [type, ...names] = SHOWN[event.type] ?? [];
  const facts = event.data as HistoryEvent['data'];
  const data = Object.fromEntries(names.map((name) => [name, facts[name]]));
  return type ? { revision, occurredAt: event.metadata.occurredAt, type, data } : null;
};
