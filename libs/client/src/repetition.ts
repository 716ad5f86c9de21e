import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, type ServiceUnreachable } from './problem-error.js';

interface RepetitionOptions {
  readonly method: string;
  /** Maximum number of attempts. Attempts that wait for a key in progress are not counted. */
  readonly attempts: number;
  /** Milliseconds. If the service asks for a longer pause, the call fails instead. */
  readonly longestPauseMs: number;
}

/** Sent too slowly, too many requests, or unavailable: not processed, and a retry may succeed. */
const REFUSED_IN_PASSING = new Set([408, 429, 503]);
/** A fault of the service or of a gateway: the request may or may not have been processed. */
const OUTCOME_UNKNOWN = new Set([500, 502, 504]);
const FIRST_PAUSE_MS = 250;
/**
 * A process that dies leaves its key in progress for 60 s. After that, the service responds or processes the
 * request again.
 */
const LONGEST_IN_PROGRESS_MS = 65_000;

/**
 * Decides which failures of one request are retried, and after which pause. When the outcome is unknown, only
 * a PATCH is not retried: it could undo a later change by somebody else, or get a 412 caused by its own first
 * attempt. A POST has its key, a GET changes nothing, and a deletion is final.
 */
export class Repetition {
  private failures = 0;
  private counted = 0;
  private inProgressSince: number | null = null;
  /** Whether a failed attempt may have succeeded on the server. */
  mayBeDone = false;

  constructor(private readonly options: RepetitionOptions) {}

  /** Milliseconds until the next attempt; `null` if there is none. */
  pauseAfter(failure: ProblemError | ServiceUnreachable): number | null {
    this.failures += 1;
    // The service also responds 503 when a store does not respond in time.
    this.mayBeDone ||= !(failure instanceof ProblemError) || failure.status >= 500;
    if (!this.mayRepeat(failure)) return null;
    const { longestPauseMs } = this.options;
    const pause = FIRST_PAUSE_MS * 2 ** (this.failures - 1) * (0.5 + Math.random());
    const asked = failure instanceof ProblemError ? (failure.retryAfterSeconds ?? 0) * 1_000 : 0;
    // An earlier retry would only be refused again. If the pause is too long, the caller gets the failure
    // with the time to wait.
    return asked > longestPauseMs ? null : Math.max(asked, Math.min(pause, longestPauseMs));
  }

  private mayRepeat(failure: ProblemError | ServiceUnreachable): boolean {
    const { attempts, method } = this.options;
    // An earlier attempt of this call is still in progress on the server, so its response is worth waiting
    // for.
    if (failure instanceof ProblemError && failure.code === 'idempotency_in_progress') {
      this.inProgressSince ??= Date.now();
      return attempts > 1 && Date.now() - this.inProgressSince < LONGEST_IN_PROGRESS_MS;
    }
    this.counted += 1;
    if (!(this.counted < attempts)) return false;
    if (isOutcomeUnknown(failure)) return method !== 'PATCH';
    return failure instanceof ProblemError && REFUSED_IN_PASSING.has(failure.status);
  }
}

/** Too many requests, or unavailable: answers that say nothing about what was asked for. */
const ASKED_TO_WAIT = new Set([429, 503]);

/** The failure of a look, if a later one may succeed. @throws any other failure */
export const passingRefusal = (failure: unknown): ProblemError => {
  if (failure instanceof ProblemError && ASKED_TO_WAIT.has(failure.status)) return failure;
  throw failure;
};

const FIRST_LOOK_MS = 200;
const LOOK_GROWTH = 1.5;
const LONGEST_LOOK_MS = 3_000;

/**
 * Pauses between two looks at a reading, milliseconds. They grow while its status stays: the service does not hold a
 * request for one that is completed but not yet published, and many waiters would use up the workspace's rate limit.
 */
export class LookPauses {
  private status: string | null = null;
  private next = FIRST_LOOK_MS;

  afterLook(status: string): number {
    if (status !== this.status) this.next = FIRST_LOOK_MS;
    this.status = status;
    return this.grown();
  }

  /** Never less than the service asks for. Waiters refused together return at different times. */
  afterRefusal({ retryAfterSeconds }: ProblemError): number {
    return (retryAfterSeconds ?? 0) * 1_000 + this.grown();
  }

  private grown(): number {
    const pause = this.next * (0.75 + Math.random() / 2);
    this.next = Math.min(this.next * LOOK_GROWTH, LONGEST_LOOK_MS);
    return pause;
  }
}

/** @throws the reason of `signal` */
export const pauseFor = async (ms: number, signal?: AbortSignal): Promise<void> => {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
};

const isOutcomeUnknown = (failure: ProblemError | ServiceUnreachable): boolean =>
  !(failure instanceof ProblemError) || OUTCOME_UNKNOWN.has(failure.status);
