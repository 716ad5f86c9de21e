import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { ReadingEvent } from '../contracts/events.js';
import { REQUEST } from '../../test/readings.js';
import { type ReadingCommand, readingDecider } from './reading.decider.js';

const request = { ...REQUEST, livemode: false, reservationId: 'reservation-1' };
const ids = { workspaceId: 'ws_1', livemode: false, reservationId: 'reservation-1' };
const T1 = '2026-09-29T08:01:00.000Z';
const requested: ReadingEvent = { type: 'ReadingRequested', data: request };
const started = (attempt = 1): ReadingEvent => ({
  type: 'ReadingStarted',
  data: { attempt, workerId: 'w1', leaseUntil: T1 },
});
const completed: ReadingEvent = {
  type: 'ReadingCompleted',
  data: { ...ids, attempt: 1, sealedResult: 's' },
};
const delayed: ReadingEvent = {
  type: 'ReadingDelayed',
  data: { workspaceId: 'ws_1', livemode: false, attempts: 0 },
};
const failedWith = (code: 'input_unprocessable' | 'timed_out', attempts: number): ReadingEvent => ({
  type: 'ReadingFailed',
  data: { ...ids, code, attempts },
});
const start = (now: string): ReadingCommand => ({
  type: 'StartAttempt',
  workerId: 'w2',
  now,
  leaseUntil: T1,
});
const complete = (attempt: number): ReadingCommand => ({
  type: 'CompleteReading',
  attempt,
  sealedResult: 's',
});
const fail = (attempt: number): ReadingCommand => ({
  type: 'FailAttempt',
  attempt,
  code: 'generation_failed',
  attemptsAllowed: 3,
  retryAt: T1,
});
const abandon: ReadingCommand = {
  type: 'AbandonReading',
  ...ids,
  reason: 'orphaned',
};

describe('requesting a reading', () => {
  it('stays erased when only its erasure is left in its stream', () => {
    const erased: ReadingEvent = { type: 'ReadingErased', data: { workspaceId: 'ws_1' } };
    given(readingDecider, [erased]).when({ type: 'RequestReading', request }).thenRejects('Erased', null);
  });
});

describe('an attempt', () => {
  it('takes over when the lease has expired, and the first worker’s late answer changes nothing', () => {
    given(readingDecider, [requested, started()])
      .when(start(T1))
      .then({ type: 'ReadingStarted', data: { attempt: 2, workerId: 'w2', leaseUntil: T1 } });
    given(readingDecider, [requested, started(1), started(2)])
      .when(complete(1))
      .thenIgnores('Superseded');
    given(readingDecider, [requested, started(1), started(2)])
      .when(fail(1))
      .thenIgnores('Superseded');
  });
});

describe('time', () => {
  it('delays a reading at most once, and never after it ended', () => {
    given(readingDecider, [requested]).when({ type: 'DelayReading' }).then(delayed);
    given(readingDecider, [requested, delayed]).when({ type: 'DelayReading' }).thenIgnores('AlreadyDelayed');
    given(readingDecider, [requested, started()])
      .when({ type: 'DelayReading' })
      .then({ type: 'ReadingDelayed', data: { workspaceId: 'ws_1', livemode: false, attempts: 1 } });
    given(readingDecider, [requested, started(), completed])
      .when({ type: 'DelayReading' })
      .thenIgnores('Terminal');
  });

  it('ends a reading that never finished, and leaves an ended one alone', () => {
    given(readingDecider, [requested]).when({ type: 'TimeOutReading' }).then(failedWith('timed_out', 0));
    given(readingDecider, [requested, started(), completed])
      .when({ type: 'TimeOutReading' })
      .thenIgnores('Terminal');
  });
});

describe('abandoning a reservation', () => {
  it('is refused when a reading uses the reservation, whatever became of it', () => {
    given(readingDecider, [requested]).when(abandon).thenRejects('ReservationClaimed');
    given(readingDecider, [requested, started(), completed]).when(abandon).thenRejects('ReservationClaimed');
  });
});

describe('erasing', () => {
  const erase: ReadingCommand = { type: 'EraseReading' };
  const erased: ReadingEvent = { type: 'ReadingErased', data: { workspaceId: 'ws_1' } };

  it('of a reading that has ended changes nothing but its data, once', () => {
    given(readingDecider, [requested, started(), completed]).when(erase).then(erased);
    given(readingDecider, [requested, started(), completed, erased]).when(erase).thenIgnores('AlreadyErased');
  });

  it('of an unfinished reading fails it, so that its credits go back, and no late answer completes it', () => {
    const failed = failedWith('input_unprocessable', 1);
    given(readingDecider, [requested, started()]).when(erase).then(failed, erased);
    given(readingDecider, [requested, started(), failed, erased]).when(complete(1)).thenIgnores('Terminal');
  });
});
