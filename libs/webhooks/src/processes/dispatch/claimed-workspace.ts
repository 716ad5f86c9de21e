import { PROBE_AFTER_FAILURES } from '../../domain/delivery/attempt-result.js';
import type { DueBatch, DueDelivery, DueQuery } from './due-deliveries.js';
import { EndpointPace, type Pace } from './paces.js';
import type {
  DetachedDelivery,
  EndpointSnapshot,
  FinishedClaim,
  WorkspaceClaim,
} from './workspace-queues.js';

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

/** How long a worker sends for a workspace before it lets others in; settings are never older than this. */
const TIME_SLICE_MS = 1_000;
/** How long the worker then waits for answers, before it detaches the deliveries that are still in flight. */
const DRAIN_MS = 100;
/** Pause before the next claim of a queue whose due deliveries could not be sent. */
const BLOCKED_PAUSE_MS = 200;

/** One endpoint of a claimed workspace: what has been read for it, and what is in flight. */
export class ClaimedEndpoint {
  inFlight = 0;
  /** Sent, outcome not recorded yet. */
  private readonly unsettled = new Map<string, DueDelivery>();
  /** Read, not sent yet. */
  private prefetched: readonly DueDelivery[] = [];
  /** The last read returned less than its limit, and nothing has changed since. */
  private hasReadAll = false;
  private dueFrom = '-infinity';
  private replayedFrom = '-infinity';
  private consecutiveFailures: number;
  private probeAt: number;
  private readonly pace: EndpointPace | null;

  constructor(
    readonly endpoint: EndpointSnapshot,
    private limit: number,
  ) {
    this.consecutiveFailures = endpoint.consecutiveFailures;
    this.probeAt = endpoint.probeAt ?? 0;
    const { maxPerSecond, pacedUntil } = endpoint;
    this.pace = maxPerSecond === null ? null : new EndpointPace(maxPerSecond, pacedUntil ?? 0);
  }

  /** When the next delivery may be sent; `null`: the endpoint has no limit of its own. */
  get pacedUntil(): number | null {
    return this.pace?.nextAt ?? null;
  }

  /** Its next turn is so soon that the claim is kept for it. */
  isAboutToSend(now: number): boolean {
    return this.prefetched.length > 0 && this.isBelowLimit(now) && (this.pace?.isSoon(now) ?? false);
  }

  /** Deliveries in flight, and those that would be if the worker's in-flight limit allowed it. */
  get demand(): number {
    return Math.min(this.limit, this.inFlight + this.prefetched.length);
  }

  get toDetach(): readonly DetachedDelivery[] {
    return [...this.unsettled.values()].map(({ deliveryId, attempt }) => ({
      deliveryId,
      attempts: attempt - 1,
    }));
  }

  canSend(now: number): boolean {
    return this.prefetched.length > 0 && this.isBelowLimit(now) && (this.pace?.allows(now) ?? true);
  }

  shouldRead(now: number): boolean {
    return !this.hasReadAll && this.prefetched.length < this.limit && this.isBelowLimit(now);
  }

  /** New deliveries may have become due. */
  readAgain(): void {
    this.hasReadAll = false;
  }

  startRead(): DueQuery {
    const { dueFrom, replayedFrom } = this;
    const known = [...this.prefetched.map(({ deliveryId }) => deliveryId), ...this.unsettled.keys()];
    this.hasReadAll = true;
    return { endpointId: this.endpoint.endpointId, known, dueFrom, replayedFrom };
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
  startNext(now: number): DueDelivery {
    this.pace?.take(now);
    const [next, ...rest] = this.prefetched as [DueDelivery];
    this.prefetched = rest;
    this.unsettled.set(next.deliveryId, next);
    this.inFlight += 1;
    return next;
  }

  /** The outcome is recorded, or never will be under this claim. */
  settled(deliveryId: string): void {
    this.unsettled.delete(deliveryId);
    this.hasReadAll = false;
  }

  succeeded(): void {
    this.consecutiveFailures = 0;
  }

  failed(consecutiveFailures: number, probeAt: number): void {
    this.consecutiveFailures = consecutiveFailures;
    this.probeAt = probeAt;
  }

  /** Sends nothing more to this endpoint. */
  disable(): void {
    this.prefetched = [];
    this.limit = 0;
  }

  /** An endpoint that keeps failing is sent one delivery at a time, when its probe is due. */
  private isBelowLimit(now: number): boolean {
    const isProbed = this.consecutiveFailures >= PROBE_AFTER_FAILURES;
    const limit = isProbed ? Math.min(this.limit, Number(this.probeAt <= now)) : this.limit;
    return this.inFlight + this.endpoint.detached < limit;
  }
}

/** A workspace queue from claim to release: sends for a time slice, then drains, then can be released. */
export class ClaimedWorkspace implements FinishedClaim {
  readonly workspaceId: string;
  readonly lease: string;
  readonly endpoints: readonly ClaimedEndpoint[];
  /** Outcomes that are being recorded. */
  recording = 0;
  isReleased = false;
  inFlight = 0;
  private hasSent = false;
  private sendsUntil: number;
  private readonly leasedUntil: number;
  /** Endpoints are served round-robin: the index of the next one. */
  private nextEndpoint = 0;
  private readonly limit: number;

  constructor(
    { workspaceId, lease, endpoints }: WorkspaceClaim,
    private readonly limits: Limits & { readonly leaseMs: number },
    elapsed: number,
  ) {
    this.workspaceId = workspaceId;
    this.lease = lease;
    this.endpoints = endpoints.map((endpoint) => new ClaimedEndpoint(endpoint, limits.perEndpoint));
    this.limit = limits.perWorkspace - endpoints.reduce((sum, { detached }) => sum + detached, 0);
    this.sendsUntil = elapsed + Math.min(TIME_SLICE_MS, limits.leaseMs / 4);
    this.leasedUntil = elapsed + limits.leaseMs;
  }

  /** Attempts that this workspace has in flight, or would have if the worker's in-flight limit allowed it. */
  demand(elapsed: number): number {
    if (elapsed >= this.sendsUntil) return this.inFlight;
    const demand = this.endpoints.reduce((sum, endpoint) => sum + endpoint.demand, 0);
    return Math.min(this.limits.perWorkspace, demand);
  }

  get toDetach(): readonly DetachedDelivery[] {
    return this.endpoints.flatMap(({ toDetach }) => toDetach);
  }

  get paces(): readonly Pace[] {
    return this.endpoints.flatMap(({ endpoint: { endpointId }, pacedUntil }) =>
      pacedUntil === null ? [] : [{ endpointId, pacedUntil }],
    );
  }

  get pauseMs(): number {
    return this.hasSent ? 0 : BLOCKED_PAUSE_MS;
  }

  /** The next endpoint and its delivery, in flight from now on; `null`: nothing can be sent now. */
  startNext({ elapsed, now }: Moment): { endpoint: ClaimedEndpoint; delivery: DueDelivery } | null {
    if (elapsed >= this.sendsUntil || this.inFlight >= this.limit) return null;
    for (let n = 0; n < this.endpoints.length; n += 1) {
      const endpoint = this.endpoints[this.nextEndpoint]!;
      this.nextEndpoint = (this.nextEndpoint + 1) % this.endpoints.length;
      if (!endpoint.canSend(now)) continue;
      this.inFlight += 1;
      this.hasSent = true;
      return { endpoint, delivery: endpoint.startNext(now) };
    }
    return null;
  }

  exchangeEnded(endpoint: ClaimedEndpoint): void {
    this.inFlight -= 1;
    endpoint.inFlight -= 1;
  }

  /** Endpoints whose due deliveries should be read now. */
  endpointsToRead({ elapsed, now }: Moment): readonly ClaimedEndpoint[] {
    return elapsed >= this.sendsUntil ? [] : this.endpoints.filter((endpoint) => endpoint.shouldRead(now));
  }

  /** Another worker may have claimed the queue. */
  hasLostLease(elapsed: number): boolean {
    return elapsed >= this.leasedUntil;
  }

  stopSending(elapsed: number): void {
    this.sendsUntil = Math.min(this.sendsUntil, elapsed);
  }

  /** May the queue be released? Waits for outcomes to be recorded, and for answers as long as it drains. */
  isReleasable({ elapsed, now }: Moment): boolean {
    if (this.recording > 0) return false;
    if (elapsed >= this.sendsUntil) return this.inFlight === 0 || elapsed >= this.sendsUntil + DRAIN_MS;
    if (this.inFlight > 0) return false;
    const hasWork = (endpoint: ClaimedEndpoint): boolean =>
      endpoint.canSend(now) || endpoint.shouldRead(now) || endpoint.isAboutToSend(now);
    return this.limit <= 0 || !this.endpoints.some(hasWork);
  }
}
