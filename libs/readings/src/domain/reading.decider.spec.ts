import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { ReadingEvent } from '../contracts/events.js';
import { REQUEST } from '../../test/readings.js';
import { type ReadingCommand, readingDecider } from './reading.decider.js';

const request = { ...REQUEST, livemode: false, reservationId: 'reservation-1' };
const ids = { workspaceId: 'ws_1', livemode: false, reservationId: 'reservation-1' };
const T0 = '2026-09-29T08:00:00.000Z';
const T1 = '2026-09-29T08:01:00.000Z';
const requested: ReadingEvent = { type: 'ReadingRequested', data: request };
const started = (attempt = 1): ReadingEvent => ({
  type: 'ReadingStarted',
  data: { attempt, workerId: 'w1', leaseUntil: T1 },
});
const attemptFailed: ReadingEvent = {
  type: 'ReadingAttemptFailed',
  data: { attempt: 1, code: 'generation_failed', retryAt: T1 },
};
const completed: ReadingEvent = {
  type: 'ReadingCompleted',
  data: { ...ids, attempt: 1, sealedResult: 's' },
};
const delayed: ReadingEvent = {
  type: 'ReadingDelayed',
  data: { workspaceId: 'ws_1', livemode: false, attempts: 0 },
};
const abandoned: ReadingEvent = {
  type: 'ReadingAbandoned',
  data: { ...ids, reason: 'orphaned' },
};
const failedWith = (
  code: 'generation_failed' | 'input_unprocessable' | 'timed_out',
  attempts: number,
): ReadingEvent => ({
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
const fail = (attempt: number, code: 'generation_failed' | 'input_unprocessable'): ReadingCommand => ({
  type: 'FailAttempt',
  attempt,
  code,
  attemptsAllowed: 3,
  retryAt: T1,
});
const abandon: ReadingCommand = {
  type: 'AbandonReading',
  ...ids,
  reason: 'orphaned',
};

describe('requesting a reading', () => {
  it('is accepted once: another request with the same id changes nothing', () => {
    given(readingDecider, []).when({ type: 'RequestReading', request }).then(requested);
    given(readingDecider, [requested])
      .when({ type: 'RequestReading', request })
      .thenIgnores('AlreadyRequested');
    given(readingDecider, [requested])
      .when({ type: 'RequestReading', request: { ...request, locale: 'en-US' } })
      .thenIgnores('AlreadyRequested');
  });

  it('stays erased when only its erasure is left in its stream', () => {
    const erased: ReadingEvent = { type: 'ReadingErased', data: { workspaceId: 'ws_1' } };
    given(readingDecider, [erased]).when({ type: 'RequestReading', request }).thenRejects('Erased', null);
  });

  it('cannot use a reservation that was abandoned, but may use a new one', () => {
    given(readingDecider, [abandoned])
      .when({ type: 'RequestReading', request })
      .thenRejects('ReservationAbandoned');
    const renewed = { ...request, reservationId: 'reservation-2' };
    given(readingDecider, [abandoned])
      .when({ type: 'RequestReading', request: renewed })
      .then({ type: 'ReadingRequested', data: renewed });
  });
});

describe('an attempt', () => {
  it('starts when the reading is queued, and not while another owns it', () => {
    given(readingDecider, [requested])
      .when(start(T0))
      .then({ type: 'ReadingStarted', data: { attempt: 1, workerId: 'w2', leaseUntil: T1 } });
    given(readingDecider, [requested, started()]).when(start(T0)).thenIgnores('NotDue');
  });

  it('takes over when the lease has expired, and the first worker’s late answer changes nothing', () => {
    given(readingDecider, [requested, started()])
      .when(start(T1))
      .then({ type: 'ReadingStarted', data: { attempt: 2, workerId: 'w2', leaseUntil: T1 } });
    given(readingDecider, [requested, started(1), started(2)])
      .when(complete(1))
      .thenIgnores('Superseded');
    given(readingDecider, [requested, started(1), started(2)])
      .when(fail(1, 'generation_failed'))
      .thenIgnores('Superseded');
  });

  it('waits for its time after a failure', () => {
    given(readingDecider, [requested, started(), attemptFailed]).when(start(T0)).thenIgnores('NotDue');
    given(readingDecider, [requested, started(), attemptFailed]).when(start(T1)).thenTypes('ReadingStarted');
  });

  it('completes the reading, once', () => {
    given(readingDecider, [requested, started()]).when(complete(1)).then(completed);
    given(readingDecider, [requested, started(), completed]).when(complete(1)).thenIgnores('Terminal');
  });

  it('is retried until the attempts are used up', () => {
    given(readingDecider, [requested, started()]).when(fail(1, 'generation_failed')).then(attemptFailed);
    given(readingDecider, [requested, started(1), attemptFailed, started(2), started(3)])
      .when(fail(3, 'generation_failed'))
      .then(failedWith('generation_failed', 3));
  });

  it('fails at once when the input can never be processed', () => {
    given(readingDecider, [requested, started()])
      .when(fail(1, 'input_unprocessable'))
      .then(failedWith('input_unprocessable', 1));
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
  it('fences a stream that no reading claimed, once', () => {
    given(readingDecider, []).when(abandon).then(abandoned);
    given(readingDecider, [abandoned]).when(abandon).thenIgnores('AlreadyAbandoned');
  });

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

  it('needs a reading', () => {
    given(readingDecider, [abandoned]).when(erase).thenRejects('NotRequested');
  });
});
