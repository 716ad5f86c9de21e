import {
  type Decider,
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '#event-sourcing/core/decider.js';
import type { FailureCode, ReadingEvent } from '../../contracts/events.js';
import type { ReadingCommand } from './reading.commands.js';
import { evolve, initialReading, isTerminal, type Reading, type Requested } from './reading.state.js';

export type ReadingRejection =
  | Rejection<'ReservationAbandoned', null>
  | Rejection<'ReservationClaimed', null>
  | Rejection<'Erased', null>
  | Rejection<'NotRequested', null>;

type ReadingDecision = Decision<ReadingEvent, ReadingRejection>;

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

const request = (
  command: Extract<ReadingCommand, { type: 'RequestReading' }>,
  state: Reading,
): ReadingDecision => {
  // Only the reading's key opens the input to compare with, and it may be destroyed. The caller compares.
  if (state.status !== 'none') return ignore('AlreadyRequested');
  if (state.erased) return reject('Erased', null);
  if (state.abandoned.includes(command.request.reservationId)) return reject('ReservationAbandoned', null);
  return accept({ type: 'ReadingRequested', data: command.request });
};

/** The fence: once abandoned, a reservation can no longer carry a reading, so its credits may be released. */
const abandon = (
  command: Extract<ReadingCommand, { type: 'AbandonReading' }>,
  state: Reading,
): ReadingDecision => {
  const { workspaceId, livemode, reservationId, reason } = command;
  if (state.abandoned.includes(reservationId)) return ignore('AlreadyAbandoned');
  if (state.status !== 'none' && state.request.reservationId === reservationId)
    return reject('ReservationClaimed', null);
  return accept({ type: 'ReadingAbandoned', data: { workspaceId, livemode, reservationId, reason } });
};

/** The stream is the lock: only one worker's append succeeds. An expired lease may be taken over. */
const start = (
  command: Extract<ReadingCommand, { type: 'StartAttempt' }>,
  state: Requested,
): ReadingDecision => {
  if (state.notBefore !== null && state.notBefore > command.now) return ignore('NotDue');
  const { workerId, leaseUntil } = command;
  return accept({ type: 'ReadingStarted', data: { attempt: state.attempts + 1, workerId, leaseUntil } });
};

const complete = (
  command: Extract<ReadingCommand, { type: 'CompleteReading' }>,
  state: Requested,
): ReadingDecision => {
  const { attempt, sealedResult } = command;
  if (!owns(attempt, state)) return ignore('Superseded');
  const { reservationId } = state.request;
  return accept({
    type: 'ReadingCompleted',
    data: { ...ownerOf(state), attempt, reservationId, sealedResult },
  });
};

const failAttempt = (
  command: Extract<ReadingCommand, { type: 'FailAttempt' }>,
  state: Requested,
): ReadingDecision => {
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
