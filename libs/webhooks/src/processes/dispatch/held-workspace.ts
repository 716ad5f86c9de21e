import { PROBE_AFTER_FAILURES } from '../../domain/attempt.js';
import {
  isSlow,
  type Bulkhead,
  type KnownEndpoint,
  type Slot,
  EndpointPace,
} from '../../domain/flow-control.js';
import type { DueBatch, DueDelivery, DueQuery } from './due-deliveries.js';
import type { EndpointSnapshot, WorkspaceLease } from './workspace-leases.js';

/** Deliveries in flight at a time. */
export interface Limits {
  readonly perEndpoint: number;
  readonly perWorkspace: number;
}

/** Milliseconds of two clocks: a monotonic one for durations, and wall-clock time since the epoch. */
export interface Moment {
  readonly elapsed: number;
  readonly now: number;
}

/** One endpoint of a workspace that this worker holds: what has been read for it, and what is in flight. */
export class HeldEndpoint {
  /** Sent, outcome not recorded yet. */
  private readonly unsettled = new Set<string>();
  /** Read, not sent yet. */
  private prefetched: readonly DueDelivery[] = [];
  /** The last read returned less than its limit, and nothing has changed since. */
  private hasReadAll = false;
  private dueFrom = '-infinity';
  private replayedFrom = '-infinity';
  private inFlight = 0;
  private isOpen = true;
  private consecutiveFailures: number;
  private probeAt: number;
  /** When this worker last recorded a success or a failure: what was read before is older. */
  private recordedAt = Number.NEGATIVE_INFINITY;
  private pace: EndpointPace | null;
  private readonly known: KnownEndpoint;

  constructor(
    public snapshot: EndpointSnapshot,
    private readonly limit: number,
    private readonly bulkhead: Bulkhead,
  ) {
    this.known = bulkhead.meet(snapshot.endpointId, snapshot.consecutiveFailures > 0);
    this.consecutiveFailures = snapshot.consecutiveFailures;
    this.probeAt = snapshot.probeAt;
    this.pace = snapshot.maxPerSecond === null ? null : new EndpointPace(snapshot.maxPerSecond, 0);
  }

  get isSlow(): boolean {
    return isSlow(this.known);
  }

  /** @param snapshot `undefined`: nothing may be sent to it any more @param readAt when reading it began */
  refresh(snapshot: EndpointSnapshot | undefined, readAt: number): void {
    this.isOpen = snapshot !== undefined;
    if (snapshot?.revision !== this.snapshot.revision) this.prefetched = [];
    if (!snapshot) return;
    if (snapshot.maxPerSecond !== this.snapshot.maxPerSecond)
      this.pace =
        snapshot.maxPerSecond === null
          ? null
          : new EndpointPace(snapshot.maxPerSecond, this.pace?.nextAt ?? 0);
    this.snapshot = snapshot;
    if (readAt < this.recordedAt) return;
    this.consecutiveFailures = snapshot.consecutiveFailures;
    this.probeAt = snapshot.probeAt;
  }

  canSend(now: number): boolean {
    return (
      this.prefetched.length > 0 &&
      this.isBelowLimit(now) &&
      (this.pace?.allows(now) ?? true) &&
      this.bulkhead.allows(this.known, this.limit)
    );
  }

  shouldRead(now: number): boolean {
    return !this.hasReadAll && this.prefetched.length < this.limit && this.isBelowLimit(now);
  }

  /** Nothing can be sent before something changes. */
  isIdle(now: number): boolean {
    const hasWork = this.isBelowLimit(now) && !(this.hasReadAll && this.prefetched.length === 0);
    return !hasWork && (this.pace?.isRested(now) ?? true);
  }

  /** New deliveries may have become due, also earlier than those that have been read. */
  readAgain(): void {
    this.hasReadAll = false;
    this.dueFrom = '-infinity';
    this.replayedFrom = '-infinity';
  }

  startRead(): DueQuery {
    const { dueFrom, replayedFrom } = this;
    const known = [...this.prefetched.map(({ deliveryId }) => deliveryId), ...this.unsettled];
    this.hasReadAll = true;
    return { endpointId: this.snapshot.endpointId, known, dueFrom, replayedFrom };
  }

  /** New events go before replayed ones, also before those that were read earlier. */
  addBatch({ due, hasMore, dueFrom, replayedFrom }: DueBatch): void {
    if (hasMore) this.hasReadAll = false;
    const all = [...this.prefetched, ...due];
    this.prefetched = [...all.filter(({ replayed }) => !replayed), ...all.filter(({ replayed }) => replayed)];
    this.dueFrom = dueFrom;
    this.replayedFrom = replayedFrom;
  }

  /** The next delivery, in flight from now on. */
  startNext({ elapsed, now }: Moment): { readonly delivery: DueDelivery; readonly slot: Slot } {
    this.pace?.take(now);
    const [next, ...rest] = this.prefetched as [DueDelivery];
    this.prefetched = rest;
    this.unsettled.add(next.deliveryId);
    this.inFlight += 1;
    return { delivery: next, slot: this.bulkhead.start(this.known, elapsed) };
  }

  exchangeEnded(): void {
    this.inFlight -= 1;
  }

  /** The outcome is recorded, or never will be by this worker. */
  settled(deliveryId: string): void {
    this.unsettled.delete(deliveryId);
    this.hasReadAll = false;
  }

  succeeded(elapsed: number): void {
    this.recordedAt = elapsed;
    this.consecutiveFailures = 0;
  }

  failed(consecutiveFailures: number, probeAt: number, elapsed: number): void {
    this.recordedAt = elapsed;
    this.consecutiveFailures = consecutiveFailures;
    this.probeAt = probeAt;
  }

  /** Sends nothing more to this endpoint, until it is read again. */
  disable(): void {
    this.prefetched = [];
    this.isOpen = false;
  }

  /** An endpoint that keeps failing is sent one delivery at a time, when its probe is due. */
  private isBelowLimit(now: number): boolean {
    if (!this.isOpen) return false;
    if (this.consecutiveFailures < PROBE_AFTER_FAILURES) return this.inFlight < this.limit;
    return this.inFlight === 0 && this.probeAt <= now;
  }
}

export class HeldWorkspace implements WorkspaceLease {
  readonly workspaceId: string;
  readonly lease: string;
  endpoints: readonly HeldEndpoint[] = [];
  /** Outcomes that are being recorded. */
  recording = 0;
  /** Sends nothing more, so that another worker may take it. */
  isLeaving = false;
  private inFlight = 0;
  private sendsUntil = 0;
  private leasedUntil = 0;
  /** Endpoints are served round-robin: the index of the next one. */
  private nextEndpoint = 0;

  constructor(
    { workspaceId, lease }: WorkspaceLease,
    private readonly limits: Limits & {
      readonly leaseMs: number;
      /** Attempts start so long (ms) before the lease ends that none outlives it. */
      readonly marginMs: number;
    },
    private readonly bulkhead: Bulkhead,
    readonly heldSince: number,
  ) {
    this.workspaceId = workspaceId;
    this.lease = lease;
  }

  get hasSlow(): boolean {
    return this.endpoints.some((endpoint) => endpoint.isSlow);
  }

  /** The lease was taken or renewed, and its endpoints read. @param at when that began */
  renewed(snapshots: readonly EndpointSnapshot[], at: number): void {
    this.leasedUntil = at + this.limits.leaseMs;
    this.sendsUntil = this.leasedUntil - this.limits.marginMs;
    const found = new Map(snapshots.map((snapshot) => [snapshot.endpointId, snapshot]));
    for (const endpoint of this.endpoints) {
      const { endpointId } = endpoint.snapshot;
      endpoint.refresh(found.get(endpointId), at);
      found.delete(endpointId);
    }
    const { perEndpoint } = this.limits;
    const added = [...found.values()].map((one) => new HeldEndpoint(one, perEndpoint, this.bulkhead));
    if (added.length > 0) this.endpoints = [...this.endpoints, ...added];
  }

  /** Another worker may have taken it. */
  hasLost(elapsed: number): boolean {
    return elapsed >= this.leasedUntil;
  }

  readAgain(): void {
    for (const endpoint of this.endpoints) endpoint.readAgain();
  }

  /** Endpoints whose due deliveries should be read now. */
  endpointsToRead({ elapsed, now }: Moment): readonly HeldEndpoint[] {
    return this.maySend(elapsed) ? this.endpoints.filter((endpoint) => endpoint.shouldRead(now)) : [];
  }

  /** The next endpoint and its delivery, in flight from now on; `null`: nothing can be sent now. */
  startNext(moment: Moment): { endpoint: HeldEndpoint; delivery: DueDelivery; slot: Slot } | null {
    if (!this.maySend(moment.elapsed) || this.inFlight >= this.limits.perWorkspace) return null;
    for (let n = 0; n < this.endpoints.length; n += 1) {
      const endpoint = this.endpoints[this.nextEndpoint]!;
      this.nextEndpoint = (this.nextEndpoint + 1) % this.endpoints.length;
      if (!endpoint.canSend(moment.now)) continue;
      this.inFlight += 1;
      return { endpoint, ...endpoint.startNext(moment) };
    }
    return null;
  }

  exchangeEnded(endpoint: HeldEndpoint): void {
    this.inFlight -= 1;
    endpoint.exchangeEnded();
  }

  /** Nothing is in flight or can be sent: the lease is of no use. */
  isIdle(now: number): boolean {
    if (this.inFlight > 0 || this.recording > 0) return false;
    return this.isLeaving || this.endpoints.every((endpoint) => endpoint.isIdle(now));
  }

  private maySend(elapsed: number): boolean {
    return !this.isLeaving && elapsed < this.sendsUntil;
  }
}
