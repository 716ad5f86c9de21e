import type { FailureCode } from '../../contracts/events.js';
import type { RequestedData } from './reading.state.js';

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
