import { ProblemError, type ServiceUnreachable } from './problem-error.js';

export interface RepetitionOptions {
  readonly method: string;
  /** How often the request is made at most; the wait for a key in progress is not counted. */
  readonly attempts: number;
  readonly longestPauseMs: number;
}

/** Too many, and not now: asked again, nothing was done. Gateways between the two of us answer 502 and 504. */
const PASSING = new Set([429, 502, 503, 504]);
const FIRST_PAUSE_MS = 250;
/** The service holds the key of a request whose process died for 60 s; after that it answers, or does the work anew. */
const LONGEST_IN_PROGRESS_MS = 65_000;

/** Which failures of one request are worth another attempt, and after which pause. */
export class Repetition {
  private failures = 0;
  private counted = 0;
  private inProgressSince: number | null = null;

  constructor(private readonly options: RepetitionOptions) {}

  /** Milliseconds after which to make the request again; `null`: the failure stands. */
  pauseAfter(failure: ProblemError | ServiceUnreachable): number | null {
    this.failures += 1;
    if (!this.mayRepeat(failure)) return null;
    const pause = FIRST_PAUSE_MS * 2 ** (this.failures - 1) * (0.5 + Math.random());
    const asked = failure instanceof ProblemError ? (failure.retryAfterSeconds ?? 0) * 1_000 : 0;
    return Math.min(Math.max(pause, asked), this.options.longestPauseMs);
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
    return failure instanceof ProblemError ? PASSING.has(failure.status) : method !== 'PATCH';
  }
}
