import { assertNever } from '#event-sourcing/core/decider.js';
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

/**
 * The history's entry for a recorded event: `unreadable`, without its facts, for one that cannot be read. `null` for an abandoned reservation: the same Idempotency-Key, sent again
 * after a 503, got another reservation.
 * @param revision number of earlier entries in the reading's history
 */
export const historyEvent = (
  event: Recorded<ReadingEvent> | OpaqueEvent,
  revision: number,
): HistoryEvent | null => {
  if (isOpaque(event)) return { revision, occurredAt: timeOf(event), type: 'unreadable', data: {} };
  const entry = entryOf(event);
  return entry && { revision, occurredAt: event.metadata.occurredAt, ...entry };
};

const timeOf = ({ stored }: OpaqueEvent): string => new Date(stored.metadata.occurredAt).toISOString();

const entryOf = (event: ReadingEvent): Pick<HistoryEvent, 'type' | 'data'> | null => {
  switch (event.type) {
    case 'ReadingRequested':
      return { type: 'requested', data: { cost: event.data.cost } };
    case 'ReadingStarted':
      return { type: 'started', data: { attempt: event.data.attempt } };
    case 'ReadingAttemptFailed': {
      const { attempt, code, retryAt } = event.data;
      return { type: 'attempt_failed', data: { attempt, code, retryAt } };
    }
    case 'ReadingDelayed':
      return { type: 'delayed', data: {} };
    case 'ReadingCompleted':
      return { type: 'completed', data: { attempt: event.data.attempt } };
    case 'ReadingFailed':
      return { type: 'failed', data: { code: event.data.code, attempts: event.data.attempts } };
    case 'ReadingErased':
      return { type: 'erased', data: {} };
    case 'ReadingAbandoned':
      return null;
    default:
      return assertNever(event);
  }
};
