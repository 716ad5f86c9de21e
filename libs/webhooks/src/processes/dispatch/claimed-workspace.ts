import { PROBE_AFTER_FAILURES } from '../../domain/delivery/attempt-result.js';
import type { DueDelivery, Found, Wanted } from './due-deliveries.js';
import type { EndedTurn, LaneEndpoint, Straggler, TakenLane } from './workspace-queues.js';

/** Deliveries in flight at a time. */
export interface Limits {
  readonly perEndpoint: number;
  readonly perWorkspace: number;
}

/** Two clocks, in milliseconds: one that never jumps, for how long turns last, and that of the world, since the epoch. */
export interface Moment {
  readonly elapsed: number;
  readonly now: number;
}

/** How long a worker sends for a workspace before others have their turn, and how old what it knows may be. */
const TURN_MS = 1_000;
/** How long a turn that is over waits for answers; deliveries that take longer outlast it. */
const LINGER_MS = 100;
/** How long a lane is left alone that has deliveries due of which none can be sent now. */
const FULL_PAUSE_MS = 200;

/** What one endpoint is to be sent in a turn. */
export class EndpointTurn {
  inFlight = 0;
  /** Sent, and not recorded yet. */
  private readonly unsettled = new Map<string, DueDelivery>();
  /** Read, and not sent yet. */
  private waiting: readonly DueDelivery[] = [];
  /** The last look found less than it asked for, and nothing has happened since. */
  private isDry = false;
  private dueFrom = '-infinity';
  private replayedFrom = '-infinity';
  private consecutiveFailures: number;
  private probeAt: number;

  constructor(
    readonly endpoint: LaneEndpoint,
    private limit: number,
  ) {
    this.consecutiveFailures = endpoint.consecutiveFailures;
    this.probeAt = endpoint.probeAt ?? 0;
  }

  /** Deliveries in flight, and those that would be if there were places. */
  get demand(): number {
    return Math.min(this.limit, this.inFlight + this.waiting.length);
  }

  get underWay(): readonly Straggler[] {
    return [...this.unsettled.values()].map(({ deliveryId, attempt }) => ({
      deliveryId,
      attempts: attempt - 1,
    }));
  }

  hasNext(now: number): boolean {
    return this.waiting.length > 0 && this.hasRoom(now);
  }

  wantsMore(now: number): boolean {
    return !this.isDry && this.waiting.length < this.limit && this.hasRoom(now);
  }

  /** Something happened after which there may be more to send. */
  lookAgain(): void {
    this.isDry = false;
  }

  wanted(): Wanted {
    const { dueFrom, replayedFrom } = this;
    const known = [...this.waiting.map(({ deliveryId }) => deliveryId), ...this.unsettled.keys()];
    this.isDry = true;
    return { endpointId: this.endpoint.endpointId, known, dueFrom, replayedFrom };
  }

  /** What is new goes before what is replayed, also when that was found before. */
  add({ due, hasMore, dueFrom, replayedFrom }: Found): void {
    if (hasMore) this.isDry = false;
    const all = [...this.waiting, ...due];
    this.waiting = [...all.filter(({ replayed }) => !replayed), ...all.filter(({ replayed }) => replayed)];
    this.dueFrom = dueFrom;
    this.replayedFrom = replayedFrom;
  }

  /** The next delivery, which is in flight from now on. */
  take(): DueDelivery {
    const [next, ...rest] = this.waiting as [DueDelivery];
    this.waiting = rest;
    this.unsettled.set(next.deliveryId, next);
    this.inFlight += 1;
    return next;
  }

  /** The delivery is recorded, or never will be by this turn. */
  settled(deliveryId: string): void {
    this.unsettled.delete(deliveryId);
    this.isDry = false;
  }

  succeeded(): void {
    this.consecutiveFailures = 0;
  }

  failed(consecutiveFailures: number, probeAt: number): void {
    this.consecutiveFailures = consecutiveFailures;
    this.probeAt = probeAt;
  }

  /** It is disabled: nothing more is sent to it. */
  stop(): void {
    this.waiting = [];
    this.limit = 0;
  }

  /** To an endpoint that keeps failing one delivery is sent at a time, when it is to be probed. */
  private hasRoom(now: number): boolean {
    const isProbed = this.consecutiveFailures >= PROBE_AFTER_FAILURES;
    const places = isProbed ? Math.min(this.limit, Number(this.probeAt <= now)) : this.limit;
    return this.inFlight + this.endpoint.flying < places;
  }
}

/** A worker's time with one workspace. */
export class Turn implements EndedTurn {
  readonly workspaceId: string;
  readonly lease: string;
  readonly endpoints: readonly EndpointTurn[];
  /** Answers that have come and are being recorded. */
  recording = 0;
  isGivenBack = false;
  inFlight = 0;
  private hasSent = false;
  private endsAt: number;
  private readonly lostAt: number;
  /** Who of the endpoints is next: each has its turn. */
  private nextEndpoint = 0;
  private readonly places: number;

  constructor(
    { workspaceId, lease, endpoints }: TakenLane,
    private readonly limits: Limits & { readonly leaseMs: number },
    elapsed: number,
  ) {
    this.workspaceId = workspaceId;
    this.lease = lease;
    this.endpoints = endpoints.map((endpoint) => new EndpointTurn(endpoint, limits.perEndpoint));
    this.places = limits.perWorkspace - endpoints.reduce((sum, { flying }) => sum + flying, 0);
    this.endsAt = elapsed + Math.min(TURN_MS, limits.leaseMs / 4);
    this.lostAt = elapsed + limits.leaseMs;
  }

  /** Places of the worker that this turn takes, or would if there were more. */
  demand(elapsed: number): number {
    if (elapsed >= this.endsAt) return this.inFlight;
    const wished = this.endpoints.reduce((sum, { demand }) => sum + demand, 0);
    return Math.min(this.limits.perWorkspace, wished);
  }

  get stragglers(): readonly Straggler[] {
    return this.endpoints.flatMap(({ underWay }) => underWay);
  }

  get pauseMs(): number {
    return this.hasSent ? 0 : FULL_PAUSE_MS;
  }

  /** The endpoint that is next and what it is sent; `null`: nothing can be sent now. */
  take({ elapsed, now }: Moment): { endpoint: EndpointTurn; delivery: DueDelivery } | null {
    if (elapsed >= this.endsAt || this.inFlight >= this.places) return null;
    for (let n = 0; n < this.endpoints.length; n += 1) {
      const endpoint = this.endpoints[this.nextEndpoint]!;
      this.nextEndpoint = (this.nextEndpoint + 1) % this.endpoints.length;
      if (!endpoint.hasNext(now)) continue;
      this.inFlight += 1;
      this.hasSent = true;
      return { endpoint, delivery: endpoint.take() };
    }
    return null;
  }

  /** An exchange has ended. */
  landed(endpoint: EndpointTurn): void {
    this.inFlight -= 1;
    endpoint.inFlight -= 1;
  }

  /** Endpoints of which more is to be read. */
  wanting({ elapsed, now }: Moment): readonly EndpointTurn[] {
    return elapsed >= this.endsAt ? [] : this.endpoints.filter((endpoint) => endpoint.wantsMore(now));
  }

  /** The lease has ended: others may have the lane. */
  isLost(elapsed: number): boolean {
    return elapsed >= this.lostAt;
  }

  /** Sends nothing more. */
  end(elapsed: number): void {
    this.endsAt = Math.min(this.endsAt, elapsed);
  }

  /** May the lane be given back? What is being recorded is waited for; answers are, for a little while. */
  hasEnded({ elapsed, now }: Moment): boolean {
    if (this.recording > 0) return false;
    if (elapsed >= this.endsAt) return this.inFlight === 0 || elapsed >= this.endsAt + LINGER_MS;
    if (this.inFlight > 0) return false;
    const mayGoOn = (endpoint: EndpointTurn): boolean => endpoint.hasNext(now) || endpoint.wantsMore(now);
    return this.places <= 0 || !this.endpoints.some(mayGoOn);
  }
}
