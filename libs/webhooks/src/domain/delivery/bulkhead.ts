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

/** What an attempt in flight holds. */
export interface Slot {
  readonly endpoint: KnownEndpoint;
  readonly startedAt: number;
  /** Of the slow pool. */
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

  /** @param perProcess deliveries in flight */
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
