import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import type { FailureCode, ReadingEvent } from '../../contracts/events.js';

export const HISTORY_TYPES = [
  'requested',
  'started',
  'attempt_failed',
  'delayed',
  'completed',
  'failed',
  'erased',
] as const;

/** One event of a reading as its owner sees it: when and what, nothing sealed, nothing of how the service is made. */
export interface HistoryEvent {
  /** Its place in what is told of the reading: from 0, without gaps. */
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
 * What the history tells of a recorded event; `null` of a reservation that was given up before the reading was accepted
 * with another (the same Idempotency-Key, sent again after a 503).
 * @param revision how many events of the reading are told before it
 */
export const historyEvent = (event: Recorded<ReadingEvent>, revision: number): HistoryEvent | null => {
  const told = tell(event);
  return told && { revision, occurredAt: event.metadata.occurredAt, ...told };
};

const tell = (event: ReadingEvent): Pick<HistoryEvent, 'type' | 'data'> | null => {
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
