import { assertNever } from '#event-sourcing/core/decider.js';
import type { FailureCode, ReadingEvent } from '../../contracts/events.js';

export type RequestedData = Extract<ReadingEvent, { type: 'ReadingRequested' }>['data'];

/** A reading, folded from its own stream. */
export type Reading =
  | {
      readonly status: 'none';
      readonly abandoned: readonly string[];
      /** An operator truncated all events except its erasure (docs/adr/0018). */
      readonly erased: boolean;
    }
  | {
      readonly status: 'queued' | 'processing' | 'completed' | 'failed';
      readonly abandoned: readonly string[];
      readonly request: RequestedData;
      /** Attempts started. */
      readonly attempts: number;
      /** RFC 3339: when the lease of the running attempt expires, or when the next attempt may start. */
      readonly notBefore: string | null;
      readonly delayed: boolean;
      readonly failure: FailureCode | null;
      readonly erased: boolean;
    };

export type Requested = Exclude<Reading, { status: 'none' }>;

export const isTerminal = (reading: Requested): boolean =>
  reading.status === 'completed' || reading.status === 'failed';

export const initialReading: Reading = { status: 'none', abandoned: [], erased: false };

export const evolve = (state: Reading, event: ReadingEvent): Reading => {
  if (event.type === 'ReadingAbandoned')
    return { ...state, abandoned: [...state.abandoned, event.data.reservationId] };
  if (event.type === 'ReadingRequested') {
    return {
      status: 'queued',
      abandoned: state.abandoned,
      request: event.data,
      attempts: 0,
      notBefore: null,
      delayed: false,
      failure: null,
      erased: false,
    };
  }
  if (state.status === 'none' && event.type === 'ReadingErased') return { ...state, erased: true };
  if (state.status === 'none') throw new TypeError(`${event.type} before ReadingRequested`);
  switch (event.type) {
    case 'ReadingStarted':
      return {
        ...state,
        status: 'processing',
        attempts: event.data.attempt,
        notBefore: event.data.leaseUntil,
      };
    case 'ReadingAttemptFailed':
      return { ...state, status: 'queued', notBefore: event.data.retryAt };
    case 'ReadingDelayed':
      return { ...state, delayed: true };
    case 'ReadingCompleted':
      return { ...state, status: 'completed', notBefore: null };
    case 'ReadingFailed':
      return { ...state, status: 'failed', notBefore: null, failure: event.data.code };
    case 'ReadingErased':
      return { ...state, erased: true };
    default:
      return assertNever(event);
  }
};
