import { isOfWayOut, type AttemptError, type AttemptResult } from './attempt.js';

/** An attempt that takes longer (ms) is slow. So is its endpoint, until one of its attempts ends sooner, whatever the outcome. */
export const SLOW_MS = 1_000;
/** Endpoints remembered; the one met longest ago is forgotten first. */
const REMEMBERED = 10_000;

/** An endpoint as a process knows it. */
export interface KnownEndpoint {
  inFlight: number;
  /** Attempts in flight that are slow by now. */
  overdue: number;
  /** Was the last attempt slow? `null`: none has ended yet. */
  wasSlow: boolean | null;
}

export interface Slot {
  readonly endpoint: KnownEndpoint;
  readonly startedAt: number;
  isSlow: boolean;
}

export const isSlow = ({ overdue, wasSlow }: KnownEndpoint): boolean => overdue > 0 || wasSlow === true;

/**
 * Deliveries that one process has in flight: half of its limit for endpoints that answer soon, half for slow ones. So
 * endpoints that never answer, however many, leave the other half to the rest.
 *
 * An endpoint that the process does not know gets one delivery first. An attempt that turns out slow leaves its pool for
 * the slow one, even if that is full: then nothing more starts there. So hundreds of endpoints that fall silent together
 * hold up the rest for some seconds. Times are milliseconds of a steady clock.
 */
export class Bulkhead {
  private readonly known = new Map<string, KnownEndpoint>();
  /** Attempts that are not overdue, the oldest first. */
  private readonly inTime = new Set<Slot>();
  private readonly limit: number;
  private prompt = 0;
  private slow = 0;

  constructor(perProcess: number) {
    this.limit = Math.ceil(perProcess / 2);
  }

  /** Attempts in flight that are not overdue. */
  get inFlight(): number {
    return this.inTime.size;
  }

  get promptFree(): number {
    return this.limit - this.prompt;
  }

  get slowFree(): number {
    return this.limit - this.slow;
  }

  /** @param isFailing by what is stored, for an endpoint that this process meets for the first time */
  meet(endpointId: string, isFailing: boolean): KnownEndpoint {
    const wasSlow = isFailing ? true : null;
    const known = this.known.get(endpointId) ?? { inFlight: 0, overdue: 0, wasSlow };
    this.known.delete(endpointId);
    this.known.set(endpointId, known);
    if (this.known.size > REMEMBERED) this.known.delete(this.known.keys().next().value!);
    return known;
  }

  /** May an attempt start? @param limit of the endpoint */
  allows(endpoint: KnownEndpoint, limit: number): boolean {
    if (endpoint.inFlight >= (endpoint.wasSlow === null ? Math.min(1, limit) : limit)) return false;
    return (isSlow(endpoint) ? this.slowFree : this.promptFree) > 0;
  }

  start(endpoint: KnownEndpoint, now: number): Slot {
    const slot = { endpoint, startedAt: now, isSlow: isSlow(endpoint) };
    endpoint.inFlight += 1;
    this.inTime.add(slot);
    this.count(slot, 1);
    return slot;
  }

  end(slot: Slot, now: number): void {
    this.look(now);
    const { endpoint } = slot;
    const isInTime = this.inTime.delete(slot);
    endpoint.inFlight -= 1;
    endpoint.wasSlow = !isInTime;
    if (!isInTime) endpoint.overdue -= 1;
    this.count(slot, -1);
  }

  /** Notes which attempts are slow by now. */
  look(now: number): void {
    for (const slot of this.inTime) {
      if (now - slot.startedAt <= SLOW_MS) return;
      this.inTime.delete(slot);
      slot.endpoint.overdue += 1;
      this.count(slot, -1);
      slot.isSlow = true;
      this.count(slot, 1);
    }
  }

  private count({ isSlow: inSlowPool }: Slot, change: 1 | -1): void {
    if (inSlowPool) this.slow += change;
    else this.prompt += change;
  }
}

/** So much of a second may be sent at once, since a worker looks only now and then. */
const BURST_MS = 50;
/** Spaces the deliveries of one endpoint evenly (the generic cell rate algorithm). Times in milliseconds. */
export class EndpointPace {
  private readonly spacingMs: number;
  /** When the next delivery would be sent at an even pace. */
  private evenAt: number;

  /** @param perSecond deliveries @param nextAt nothing is sent before */
  constructor(perSecond: number, nextAt: number) {
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

const SHORTEST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 30_000;

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
      this.holdMs = Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_HOLD_MS, this.holdMs * 2));
      this.heldUntil = elapsed + this.holdMs;
    }
  }
}
