import {
  type Decider,
  accept,
  assertNever,
  type Decision,
  ignore,
  reject,
  type Rejection,
} from '#event-sourcing/core/decider.js';
import type { FailureCode, ReadingEvent } from '../contracts/events.js';

/** Instants are RFC 3339 UTC; durations milliseconds. */
export type ReadingCommand =
  | { readonly type: 'RequestReading'; readonly request: RequestedData }
  | {
      readonly type: 'StartAttempt';
      readonly workerId: string;
      readonly now: string;
      readonly leaseUntil: string;
    }
  | {
      readonly type: 'CompleteReading';
      readonly attempt: number;
      readonly sealedResult: string;
    }
  | {
      readonly type: 'FailAttempt';
      readonly attempt: number;
      readonly code: FailureCode;
      /** Attempts after which the reading fails permanently. */
      readonly attemptsAllowed: number;
      readonly retryAt: string;
    }
  | { readonly type: 'DelayReading' }
  | { readonly type: 'TimeOutReading' }
  | { readonly type: 'EraseReading' }
  | {
      readonly type: 'AbandonReading';
      readonly workspaceId: string;
      readonly reservationId: string;
      readonly livemode: boolean;
      readonly reason: string;
    };

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

const isTerminal = (reading: Requested): boolean =>
  reading.status === 'completed' || reading.status === 'failed';

const initialReading: Reading = { status: 'none', abandoned: [], erased: false };

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

type ReadingRejection =
  | Rejection<'ReservationAbandoned', null>
  | Rejection<'ReservationClaimed', null>
  | Rejection<'Erased', null>
  | Rejection<'NotRequested', null>;

type ReadingDecision = Decision<ReadingEvent, ReadingRejection>;
type Of<T extends ReadingCommand['type']> = Extract<ReadingCommand, { type: T }>;

const decide = (command: ReadingCommand, state: Reading): ReadingDecision => {
  if (command.type === 'RequestReading') return request(command, state);
  if (command.type === 'AbandonReading') return abandon(command, state);
  if (state.status === 'none') return reject('NotRequested', null);
  if (command.type === 'EraseReading') return erase(state);
  if (isTerminal(state)) return ignore('Terminal');
  switch (command.type) {
    case 'StartAttempt':
      return start(command, state);
    case 'CompleteReading':
      return complete(command, state);
    case 'FailAttempt':
      return failAttempt(command, state);
    case 'DelayReading':
      return state.delayed
        ? ignore('AlreadyDelayed')
        : accept({
            type: 'ReadingDelayed',
            data: { ...ownerOf(state), attempts: state.attempts },
          });
    case 'TimeOutReading':
      return accept(failed(state, 'timed_out', state.attempts));
    default:
      return assertNever(command);
  }
};

const request = (command: Of<'RequestReading'>, state: Reading): ReadingDecision => {
  // Only the reading's key opens the input to compare with, and it may be destroyed. The caller compares.
  if (state.status !== 'none') return ignore('AlreadyRequested');
  if (state.erased) return reject('Erased', null);
  if (state.abandoned.includes(command.request.reservationId)) return reject('ReservationAbandoned', null);
  return accept({ type: 'ReadingRequested', data: command.request });
};

/** The fence: once abandoned, a reservation can no longer carry a reading, so its credits may be released. */
const abandon = (command: Of<'AbandonReading'>, state: Reading): ReadingDecision => {
  const { workspaceId, livemode, reservationId, reason } = command;
  if (state.abandoned.includes(reservationId)) return ignore('AlreadyAbandoned');
  if (state.status !== 'none' && state.request.reservationId === reservationId)
    return reject('ReservationClaimed', null);
  return accept({ type: 'ReadingAbandoned', data: { workspaceId, livemode, reservationId, reason } });
};

/** The stream is the lock: only one worker's append succeeds. An expired lease may be taken over. */
const start = (command: Of<'StartAttempt'>, state: Requested): ReadingDecision => {
  if (state.notBefore !== null && state.notBefore > command.now) return ignore('NotDue');
  const { workerId, leaseUntil } = command;
  return accept({ type: 'ReadingStarted', data: { attempt: state.attempts + 1, workerId, leaseUntil } });
};

const complete = (command: Of<'CompleteReading'>, state: Requested): ReadingDecision => {
  const { attempt, sealedResult } = command;
  if (!owns(attempt, state)) return ignore('Superseded');
  const { reservationId } = state.request;
  return accept({
    type: 'ReadingCompleted',
    data: { ...ownerOf(state), attempt, reservationId, sealedResult },
  });
};

const failAttempt = (command: Of<'FailAttempt'>, state: Requested): ReadingDecision => {
  const { attempt, code, attemptsAllowed, retryAt } = command;
  if (!owns(attempt, state)) return ignore('Superseded');
  const hopeless = code === 'input_unprocessable' || attempt >= attemptsAllowed;
  return hopeless
    ? accept(failed(state, code, attempt))
    : accept({ type: 'ReadingAttemptFailed', data: { attempt, code, retryAt } });
};

/** A reading that can no longer be generated has failed. Its credits are released. */
const erase = (state: Requested): ReadingDecision => {
  if (state.erased) return ignore('AlreadyErased');
  const erased = { type: 'ReadingErased', data: { workspaceId: state.request.workspaceId } } as const;
  return isTerminal(state)
    ? accept(erased)
    : accept(failed(state, 'input_unprocessable', state.attempts), erased);
};

/** A worker whose lease was taken over has lost it: its late answer changes nothing. */
const owns = (attempt: number, state: Requested): boolean =>
  state.status === 'processing' && state.attempts === attempt;

const failed = (state: Requested, code: FailureCode, attempts: number): ReadingEvent => ({
  type: 'ReadingFailed',
  data: { ...ownerOf(state), code, attempts, reservationId: state.request.reservationId },
});

/** What each event that leaves the module says of its reading. */
const ownerOf = ({ request: { workspaceId, livemode } }: Requested) => ({ workspaceId, livemode });

export const readingDecider: Decider<ReadingCommand, ReadingEvent, Reading, ReadingRejection> = {
  initialState: initialReading,
  decide,
  evolve,
};
