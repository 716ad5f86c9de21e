import { ProblemError, type ServiceUnreachable } from './problem-error.js';

export interface RepetitionOptions {
  readonly method: string;
  /** How often the request is made at most; the wait for a key in progress is not counted. */
  readonly attempts: number;
  /** What is to be repeated later than this is not repeated. */
  readonly longestPauseMs: number;
}

/** Too many, and not now: the service itself asks for the request again. */
const REFUSED_IN_PASSING = new Set([429, 503]);
/** A fault of the service, or of a gateway between the two of us: what was asked may be done or not. */
const OUTCOME_UNKNOWN = new Set([500, 502, 504]);
const FIRST_PAUSE_MS = 250;
/** The service holds the key of a request whose process died for 60 s; after that it answers, or does the work anew. */
const LONGEST_IN_PROGRESS_MS = 65_000;

/**
 * Which failures of one request are worth another attempt, and after which pause. Where it is unknown whether the thing
 * was done, only a PATCH is not repeated: it could undo what somebody else has changed since, or meet a 412 of its own
 * making. A POST has its key, a GET changes nothing, and what is deleted stays deleted.
 */
export class Repetition {
  private failures = 0;
  private counted = 0;
  private inProgressSince: number | null = null;
  /** One of the failures so far may have been a success. */
  mayBeDone = false;

  constructor(private readonly options: RepetitionOptions) {}

  /** Milliseconds after which to make the request again; `null`: the failure stands. */
  pauseAfter(failure: ProblemError | ServiceUnreachable): number | null {
    this.failures += 1;
    // A 503 comes from a store that did not answer in time, too.
    this.mayBeDone ||= !(failure instanceof ProblemError) || failure.status >= 500;
    if (!this.mayRepeat(failure)) return null;
    const { longestPauseMs } = this.options;
    const pause = FIRST_PAUSE_MS * 2 ** (this.failures - 1) * (0.5 + Math.random());
    const asked = failure instanceof ProblemError ? (failure.retryAfterSeconds ?? 0) * 1_000 : 0;
    // Asked sooner than the service says, it could only refuse again: the caller is told how long to wait instead.
    return asked > longestPauseMs ? null : Math.max(asked, Math.min(pause, longestPauseMs));
  }

  private mayRepeat(failure: ProblemError | ServiceUnreachable): boolean {
    const { attempts, method } = this.options;
    // An attempt of this very call that had no answer in time is what is in progress: its answer is worth the wait.
    if (failure instanceof ProblemError && failure.code === 'idempotency_in_progress') {
      this.inProgressSince ??= Date.now();
      return attempts > 1 && Date.now() - this.inProgressSince < LONGEST_IN_PROGRESS_MS;
    }
    this.counted += 1;
    if (this.counted >= attempts) return false;
    if (isOutcomeUnknown(failure)) return method !== 'PATCH';
    return failure instanceof ProblemError && REFUSED_IN_PASSING.has(failure.status);
  }
}

const isOutcomeUnknown = (failure: ProblemError | ServiceUnreachable): boolean =>
  !(failure instanceof ProblemError) || OUTCOME_UNKNOWN.has(failure.status);
