import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '#event-sourcing/core/clock.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import type { AttemptResult } from '../../domain/delivery/attempt-result.js';
import { Places } from '../../domain/delivery/places.js';
import type { WayOut } from '../../domain/delivery/way-out.js';
import { ClaimedWorkspace, type Limits, type Moment } from './claimed-workspace.js';
import type { DeliveryAttempts } from './delivery-attempts.js';
import { readDue, type DueDelivery } from './due-deliveries.js';
import type { WakeSignal } from './wake-signal.js';
import type { WorkspaceQueues } from './workspace-queues.js';

/** Queues claimed at once; the rest is left for other workers. */
const CLAIM_BATCH = 8;
/** New deliveries of one endpoint read at once. */
const READ_BATCH = 32;
/** Pause of a busy worker before it queries the database again, so that batches fill. */
const PAUSE_MS = 5;
const BUSY_IN_FLIGHT = 16;
/** Queues released at once: hundreds may end their time slices together, and others wait meanwhile. */
const RELEASE_BATCH = 8;
/** How often claimed workspaces are checked for release. */
const RELEASE_CHECK_MS = 10;
/** How long attempts may take after the worker was stopped, before they are cancelled. */
const SHUTDOWN_MS = 5_000;
const RELEASE_TRIES = 20;

export interface DispatcherParts {
  readonly pool: pg.Pool;
  readonly queues: WorkspaceQueues;
  readonly limits: Limits & { readonly leaseMs: number };
  readonly attempts: DeliveryAttempts;
  readonly wayOut: WayOut;
  readonly wake: WakeSignal;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

/**
 * Sends due deliveries until it is stopped: claims workspace queues, reads their due deliveries, makes attempts, and
 * releases the queues. When it dies, its leases expire and another worker sends the rest: at least once.
 */
export class Dispatcher implements WorkLoop {
  readonly name = 'webhooks.dispatcher';
  readonly role = 'webhooks';
  private claimed: ClaimedWorkspace[] = [];
  private readonly attemptsUnderWay = new Set<Promise<void>>();
  private readonly places = new Places();
  private readonly recurring = new Recurring();
  /** There may be ready queues that no worker has claimed. */
  private mayClaim = true;
  private isSendScheduled = false;
  private isStopping = false;

  constructor(private readonly parts: DispatcherParts) {}

  async run(signal: AbortSignal): Promise<void> {
    const { wake } = this.parts;
    const listening = wake.listen(signal);
    while (!signal.aborted) {
      await this.step().catch((error: unknown) => this.logError(error));
      if (this.places.inFlight > BUSY_IN_FLIGHT) await delay(PAUSE_MS);
      const mayHaveNews = await wake.wait(this.claimed.length > 0 ? RELEASE_CHECK_MS : Infinity, signal);
      if (!mayHaveNews) continue;
      this.mayClaim = true;
      for (const { endpoints } of this.claimed) for (const endpoint of endpoints) endpoint.readAgain();
    }
    await this.shutDown();
    await listening;
  }

  private get moment(): Moment {
    return { elapsed: performance.now(), now: this.parts.clock.now() };
  }

  private async step(): Promise<void> {
    this.places.look(performance.now());
    const finished = this.claimed.filter((workspace) => workspace.isReleasable(this.moment));
    await this.release(finished.slice(0, RELEASE_BATCH));
    if (finished.length > RELEASE_BATCH) this.parts.wake.now();
    await this.claim();
    await this.read();
    this.send();
  }

  private async claim(): Promise<void> {
    const { queues, limits, clock, wayOut } = this.parts;
    const elapsed = performance.now();
    if (!wayOut.isOpen(elapsed)) return;
    const wanted = this.claimed.reduce(
      (sum, workspace) => sum + workspace.demand(elapsed) - workspace.inFlight,
      0,
    );
    const free = Math.ceil((this.places.available - wanted) / limits.perEndpoint);
    if (!this.mayClaim || free <= 0) return;
    const count = Math.min(CLAIM_BATCH, free);
    const claims = await queues.claim(count, clock.now());
    this.mayClaim = claims.length === count;
    if (this.mayClaim) this.parts.wake.now();
    for (const claim of claims)
      this.claimed.push(new ClaimedWorkspace(claim, limits, this.places, performance.now()));
  }

  private async read(): Promise<void> {
    const endpoints = this.claimed.flatMap((workspace) => workspace.endpointsToRead(this.moment));
    if (endpoints.length === 0) return;
    const { pool, limits, clock } = this.parts;
    const queries = endpoints.map((endpoint) => endpoint.startRead());
    const batch = { fresh: READ_BATCH, replayed: limits.perEndpoint };
    const batches = await readDue(pool, queries, batch, clock.now());
    for (const [index, one] of batches.entries()) endpoints[index]!.addBatch(one);
    this.parts.wake.now();
  }

  private async release(finished: readonly ClaimedWorkspace[]): Promise<void> {
    if (finished.length === 0) return;
    const { queues, clock } = this.parts;
    for (const workspace of finished) workspace.finish(this.moment);
    const { released, isAnyReady } = await queues.release(finished, clock.now());
    for (const workspace of released) workspace.isReleased = true;
    // A queue that another worker has claimed since cannot be released.
    this.claimed = this.claimed.filter(
      (workspace) => !workspace.isReleased && !workspace.hasLostLease(performance.now()),
    );
    if (!isAnyReady) return;
    this.mayClaim = true;
    this.parts.wake.now();
  }

  /** Round-robin over the claimed workspaces, as long as there are places. */
  private send(): void {
    const { moment } = this;
    for (let sending = this.claimed; sending.length > 0;)
      sending = sending.filter((workspace) => this.places.available > 0 && this.sendNext(workspace, moment));
    // The first comes last the next time.
    const [first, ...others] = this.claimed;
    if (first) this.claimed = [...others, first];
  }

  private sendNext(workspace: ClaimedWorkspace, moment: Moment): boolean {
    if (this.isStopping || !this.parts.wayOut.isOpen(moment.elapsed)) return false;
    const next = workspace.startNext(moment);
    if (next === null) return false;
    const ended = this.parts.wayOut.began();
    const onExchangeEnd = (result: AttemptResult | null): void => {
      const elapsed = performance.now();
      ended(result, elapsed);
      this.places.end(next.place, elapsed, result?.error === null);
      workspace.exchangeEnded(next.endpoint);
      this.scheduleSend();
    };
    const attempt = this.parts.attempts
      .make({ workspace, ...next, onExchangeEnd })
      .then(
        () => next.endpoint.settled(next.delivery.deliveryId),
        (error: unknown) => {
          workspace.stopSending(performance.now());
          this.logError(error, next.delivery);
        },
      )
      .finally(() => {
        this.attemptsUnderWay.delete(attempt);
        // Its queue is ready again.
        if (workspace.isReleasing) this.mayClaim = true;
        this.parts.wake.now();
      });
    this.attemptsUnderWay.add(attempt);
    return true;
  }

  /** Once for all answers that arrive together. */
  private scheduleSend(): void {
    if (this.isSendScheduled) return;
    this.isSendScheduled = true;
    setImmediate(() => {
      this.isSendScheduled = false;
      this.send();
    });
  }

  /** Once as it is, then at growing intervals: an absent database fails at every step. */
  private logError(error: unknown, delivery?: DueDelivery): void {
    const reason = error instanceof Error ? error.message : 'unknown';
    const times = this.recurring.happened(delivery ? `delivery ${reason}` : reason);
    if (times === 0) return;
    if (!delivery) return this.parts.log.warn({ reason, times }, 'due deliveries cannot be read');
    const { deliveryId, readingId, requestId } = delivery;
    this.parts.log.error(
      { deliveryId, readingId, requestId, reason, times },
      'a delivery is retried when its lease expires',
    );
  }

  /** Lets attempts finish for a while, cancels the rest, and releases all queues. */
  private async shutDown(): Promise<void> {
    this.isStopping = true;
    const timer = setTimeout(() => this.parts.attempts.cancel(), SHUTDOWN_MS);
    await Promise.allSettled(this.attemptsUnderWay);
    clearTimeout(timer);
    for (let tries = 0; this.claimed.length > 0 && tries < RELEASE_TRIES; tries += 1) {
      await this.release(this.claimed).catch((error: unknown) => this.logError(error));
      if (this.claimed.length > 0) await delay(PAUSE_MS);
    }
  }
}
