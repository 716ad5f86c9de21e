import { PROBE_AFTER_FAILURES } from '../../domain/delivery/attempt-result.js';
import type { KnownEndpoint, Place, Places } from '../../domain/delivery/places.js';
import type { DueBatch, DueDelivery, DueQuery } from './due-deliveries.js';
import { EndpointPace, type Pace } from './paces.js';
import type {
  DetachedDelivery,
  EndpointSnapshot,
  FinishedClaim,
  Rest,
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
  private readonly known: KnownEndpoint;

  constructor(
    readonly endpoint: EndpointSnapshot,
    workspaceId: string,
    private limit: number,
    private readonly places: Places,
  ) {
    this.known = places.meet(endpoint.endpointId, workspaceId, endpoint.consecutiveFailures);
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

  /** When this worker last sent to it. */
  get servedAt(): number {
    return this.known.servedAt;
  }

  /** Deliveries in flight, and those that would be if the worker had a place for each. */
  get demand(): number {
    return Math.min(this.window, this.inFlight + this.prefetched.length);
  }

  /**
   * Why it gets nothing more although something may be due: 0, until one of its deliveries ends; or it has no place for so
   * long (ms). `null`: nothing keeps it.
   */
  restMs({ elapsed, now }: Moment): number | null {
    if (!this.isBelowLimit(now)) return 0;
    return this.prefetched.length > 0 ? this.places.restMs(this.known, elapsed) : null;
  }

  get toDetach(): readonly DetachedDelivery[] {
    return [...this.unsettled.values()].map(({ deliveryId, attempt }) => ({
      deliveryId,
      attempts: attempt - 1,
    }));
  }

  canSend({ elapsed, now }: Moment): boolean {
    return (
      this.prefetched.length > 0 &&
      this.isBelowLimit(now) &&
      (this.pace?.allows(now) ?? true) &&
      this.places.allows(this.known, elapsed)
    );
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
  startNext({ elapsed, now }: Moment): { readonly delivery: DueDelivery; readonly place: Place } {
    this.pace?.take(now);
    const [next, ...rest] = this.prefetched as [DueDelivery];
    this.prefetched = rest;
    this.unsettled.set(next.deliveryId, next);
    this.inFlight += 1;
    return { delivery: next, place: this.places.start(this.known, elapsed) };
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

  private get window(): number {
    return this.places.window(this.known, this.limit);
  }

  /** An endpoint that keeps failing is sent one delivery at a time, when its probe is due. */
  private isBelowLimit(now: number): boolean {
    const isProbed = this.consecutiveFailures >= PROBE_AFTER_FAILURES;
    const limit = isProbed ? Math.min(this.limit, Number(this.probeAt <= now)) : this.window;
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
  /** Its release has begun. It may be committed before this worker hears of it. */
  isReleasing = false;
  inFlight = 0;
  rests: readonly Rest[] = [];
  private hasSent = false;
  private sendsUntil: number;
  private readonly leasedUntil: number;
  /** Endpoints are served round-robin, from the one that has waited longest: the index of the next one. */
  private nextEndpoint = 0;
  private readonly limit: number;

  constructor(
    { workspaceId, lease, endpoints }: WorkspaceClaim,
    private readonly limits: Limits & { readonly leaseMs: number },
    places: Places,
    elapsed: number,
  ) {
    this.workspaceId = workspaceId;
    this.lease = lease;
    this.endpoints = endpoints
      .map((endpoint) => new ClaimedEndpoint(endpoint, workspaceId, limits.perEndpoint, places))
      .toSorted((a, b) => (a.servedAt < b.servedAt ? -1 : Number(a.servedAt > b.servedAt)));
    this.limit = limits.perWorkspace - endpoints.reduce((sum, { detached }) => sum + detached, 0);
    this.sendsUntil = elapsed + Math.min(TIME_SLICE_MS, limits.leaseMs / 4);
    this.leasedUntil = elapsed + limits.leaseMs;
  }

  /** Attempts that this workspace has in flight, or would have if the worker had a place for each. */
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
  startNext(moment: Moment): { endpoint: ClaimedEndpoint; delivery: DueDelivery; place: Place } | null {
    if (moment.elapsed >= this.sendsUntil || this.inFlight >= this.limit) return null;
    for (let n = 0; n < this.endpoints.length; n += 1) {
      const endpoint = this.endpoints[this.nextEndpoint]!;
      this.nextEndpoint = (this.nextEndpoint + 1) % this.endpoints.length;
      if (!endpoint.canSend(moment)) continue;
      this.inFlight += 1;
      this.hasSent = true;
      return { endpoint, ...endpoint.startNext(moment) };
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

  /** Sends nothing more, and notes which endpoints rest after the release. */
  finish(moment: Moment): void {
    this.isReleasing = true;
    this.stopSending(moment.elapsed);
    this.rests = this.endpoints.flatMap((endpoint) => {
      const restMs = endpoint.restMs(moment);
      return restMs === null ? [] : [{ endpointId: endpoint.endpoint.endpointId, restMs }];
    });
  }

  /** May the queue be released? Waits for outcomes to be recorded, and for answers as long as it drains. */
  isReleasable(moment: Moment): boolean {
    const { elapsed, now } = moment;
    if (this.recording > 0) return false;
    if (elapsed >= this.sendsUntil) return this.inFlight === 0 || elapsed >= this.sendsUntil + DRAIN_MS;
    if (this.inFlight > 0) return false;
    const hasWork = (endpoint: ClaimedEndpoint): boolean =>
      endpoint.canSend(moment) || endpoint.shouldRead(now) || endpoint.isAboutToSend(now);
    return this.limit <= 0 || !this.endpoints.some(hasWork);
  }
}
