import { isOfWayOut, type AttemptError, type AttemptResult } from './attempt.js';

/** So much of a second may be sent at once, since a worker looks only now and then. */
const BURST_MS = 50;
/** Spaces the deliveries of one endpoint evenly (the generic cell rate algorithm). Times in milliseconds. */
export class EndpointPace {
  private readonly spacingMs: number;
  /** When the next delivery would be sent at an even pace. */
  private evenAt: number;

  /** @param perSecond deliveries @param nextAt nothing is sent before */
  constructor(
    readonly perSecond: number,
    nextAt: number,
  ) {
    this.spacingMs = 1_000 / perSecond;
    this.evenAt = nextAt + this.burstMs;
  }

  private get burstMs(): number {
    return Math.max(0, BURST_MS - this.spacingMs);
  }

  /** From then on the next delivery may be sent. */
  get nextAt(): number {
    return this.evenAt - this.burstMs;
  }

  allows(now: number): boolean {
    return now >= this.nextAt;
  }

  /** It owes nothing any more: a new pace would allow no more than this one. */
  isRested(now: number): boolean {
    return now >= this.evenAt;
  }

  take(now: number): void {
    this.evenAt = Math.max(this.evenAt, now) + this.spacingMs;
  }
}

/** Failures before anything was sent: they say nothing about the way out. */
const NOT_SENT: readonly (AttemptError | null)[] = [
  'asked_refusal',
  'dns_failed',
  'blocked_address',
  'invalid_url',
];

const MIN_HOLD_MS = 1_000;
const MAX_HOLD_MS = 30_000;

/** @param result `null`: the outcome is unknown, or nothing was sent */
type Ended = (result: Pick<AttemptResult, 'error'> | null, elapsed: number) => void;

/**
 * Whether a worker can send at all. After a failure of the service's own proxy it holds everything back, and then tries one
 * delivery at a time, so that an outage of the proxy does not use up the schedules of all deliveries. Times are
 * milliseconds of a steady clock.
 */
export class WayOut {
  private holdMs = 0;
  private heldUntil = -Infinity;
  private isTrying = false;

  isOpen(elapsed: number): boolean {
    return this.holdMs === 0 || (!this.isTrying && elapsed >= this.heldUntil);
  }

  /** A delivery is being sent. @returns what to call once it was */
  began(): Ended {
    const isTrial = this.holdMs > 0;
    this.isTrying ||= isTrial;
    return (result, elapsed) => {
      // One from before the failure may end while another is the trial.
      if (isTrial) this.isTrying = false;
      if (result !== null && !NOT_SENT.includes(result.error)) this.learn(isOfWayOut(result.error), elapsed);
    };
  }

  private learn(hasFailed: boolean, elapsed: number): void {
    if (!hasFailed) this.holdMs = 0;
    // Those that were under way together fail together, and count as one.
    else if (elapsed >= this.heldUntil) {
      this.holdMs = Math.min(MAX_HOLD_MS, Math.max(MIN_HOLD_MS, this.holdMs * 2));
      this.heldUntil = elapsed + this.holdMs;
    }
  }
}
