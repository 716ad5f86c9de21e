import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { type ResolveHost, openSender, observedSender, type AttemptObserver } from './sender.js';
import type { AttemptResult } from '../../domain/attempt.js';
import { Bulkhead, WayOut } from '../../domain/flow-control.js';
import type { Config } from '../../settings.js';
import { DeliveryAttempts, type AttemptParts } from './delivery-attempts.js';
import { readDue, type DueDelivery } from './due-deliveries.js';
import { HeldWorkspace, type Limits, type Moment } from './held-workspace.js';
import { OutcomeLog } from './outcome-log.js';
import { WakeSignal } from './wake-signal.js';
import { leaseMsOf, WorkspaceLeases } from './workspace-leases.js';

/** Postgres channel that is notified of a workspace with new deliveries; without a payload, of any. */
const DUE_CHANNEL = 'webhooks_due';
/** Workspaces taken at once; the rest is left for other workers. */
const TAKE_BATCH = 8;
/** Workspaces that nobody else has taken for a second are taken at once, whether there are slots for them or not. */
const LEFT_BATCH = 64;
/** New deliveries of one endpoint read at once. */
const READ_BATCH = 32;
/** Pause of a busy worker before it queries the database again, so that batches fill (ms). */
const PAUSE_MS = 5;
const BUSY_IN_FLIGHT = 16;
/** How often a worker that holds workspaces looks for turns of endpoints with a pace, and for slow attempts (ms). */
const LOOK_MS = 10;
/** How long a worker keeps a workspace while others might take a part of its load (ms). */
const KEPT_MS = 5_000;
/** An attempt ends so long before its lease: time to read what it needs, and to record its outcome (ms). */
const RECORD_MS = 500;
/** How long attempts may take after the worker was stopped, before they are cancelled (ms). */
const SHUTDOWN_MS = 5_000;
const RELEASE_TRIES = 20;
/** Deliveries in flight at once, for each worker that has the workspace: docs/webhooks.md promises them to receivers. */
const CONCURRENCY: Limits = { perEndpoint: 5, perWorkspace: 25 };

interface DispatcherDependencies extends Omit<AttemptParts, 'sender' | 'outcomes' | 'config'> {
  readonly pool: pg.Pool;
  readonly config: Config;
  readonly resolve: ResolveHost;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  readonly observer?: AttemptObserver;
  readonly connectTimeoutMs?: number;
  readonly concurrency?: Limits;
}

/**
 * Sends due deliveries until it is stopped: takes the leases of workspaces, reads their due deliveries, makes attempts, and
 * gives up the leases when nothing is left. When it dies, its leases expire and another worker sends the rest: at least once.
 */
export class Dispatcher implements WorkLoop {
  readonly name = 'webhooks.dispatcher';
  readonly role = 'webhooks';
  private readonly attempts: DeliveryAttempts;
  private readonly leases: WorkspaceLeases;
  private readonly limits: Limits & { readonly leaseMs: number; readonly marginMs: number };
  private readonly bulkhead: Bulkhead;
  private readonly wayOut = new WayOut();
  private readonly wake: WakeSignal;
  /** The one that was served longest ago first. */
  private held: readonly HeldWorkspace[] = [];
  /** Workspaces that may have something due and are not held. */
  private readonly wanted = new Set<string>();
  /** Those of them that nobody has taken for a second. */
  private left: readonly string[] = [];
  private readonly attemptsUnderWay = new Set<Promise<void>>();
  private readonly recurring = new Recurring();
  private finding: Promise<void> | null = null;
  private isSendScheduled = false;
  private isStopping = false;

  constructor(private readonly parts: DispatcherDependencies) {
    const { pool, config, observer = { attempted: () => undefined } } = parts;
    const sender = observedSender(openSender(parts), pool, observer);
    this.attempts = new DeliveryAttempts({ ...parts, sender, outcomes: new OutcomeLog(pool) });
    const leaseMs = leaseMsOf(config);
    this.leases = new WorkspaceLeases(pool, leaseMs);
    this.limits = {
      ...(parts.concurrency ?? CONCURRENCY),
      leaseMs,
      marginMs: config.WEBHOOK_ATTEMPT_TIMEOUT_MS + RECORD_MS,
    };
    this.bulkhead = new Bulkhead(config.WEBHOOK_PROCESS_CONCURRENCY);
    this.wake = new WakeSignal(config.DATABASE_URL, DUE_CHANNEL);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { wake } = this;
    const listening = wake.listen(signal);
    for (let isPoll = false; !signal.aborted;) {
      await this.step(isPoll).catch((error: unknown) => this.logError(error));
      if (this.bulkhead.inFlight > BUSY_IN_FLIGHT) await delay(PAUSE_MS);
      isPoll = await wake.wait(this.held.length > 0 ? LOOK_MS : Infinity, signal);
    }
    await this.shutDown();
    await listening;
  }

  private get moment(): Moment {
    return { elapsed: performance.now(), now: this.parts.clock.now() };
  }

  private async step(isPoll: boolean): Promise<void> {
    this.bulkhead.look(performance.now());
    if (isPoll) await this.poll();
    this.hear();
    await this.take();
    await this.read();
    this.send();
    await this.release(this.held.filter((workspace) => workspace.isIdle(this.parts.clock.now())));
  }

  /** Renews leases, reads endpoints again, and begins to look for what no worker has taken. */
  private async poll(): Promise<void> {
    await this.renew(this.held);
    for (const workspace of this.held) workspace.readAgain();
    if (this.bulkhead.promptFree <= 0) this.leaveOne();
    // Nothing waits for this: it takes milliseconds, and events come meanwhile.
    this.finding ??= this.find()
      .catch((error: unknown) => this.logError(error))
      .finally(() => (this.finding = null));
  }

  private async find(): Promise<void> {
    const due = await this.leases.due(this.parts.clock.now());
    this.left = due.filter((workspaceId) => this.wanted.has(workspaceId)).slice(0, LEFT_BATCH);
    for (const workspaceId of due) this.wanted.add(workspaceId);
    if (due.length > 0) this.wake.now();
  }

  private async renew(workspaces: readonly HeldWorkspace[]): Promise<void> {
    const { elapsed, now } = this.moment;
    const kept = workspaces.filter((workspace) => !workspace.hasLost(elapsed));
    const taken = await this.leases.take(kept, now);
    for (const workspace of kept) {
      const endpoints = taken.get(workspace.workspaceId);
      if (endpoints) workspace.renewed(endpoints, elapsed);
    }
    this.held = this.held.filter(({ workspaceId }) => taken.has(workspaceId));
  }

  /** So that a worker that was added gets a part of a long queue. */
  private leaveOne(): void {
    const before = performance.now() - KEPT_MS;
    const [longest] = this.held
      .filter((workspace) => workspace.heldSince < before && !workspace.hasSlow)
      .toSorted((a, b) => a.heldSince - b.heldSince);
    if (longest) longest.isLeaving = true;
  }

  private hear(): void {
    const heard = this.wake.take();
    if (heard.size === 0) return;
    for (const workspace of this.held) if (heard.delete(workspace.workspaceId)) workspace.readAgain();
    for (const workspaceId of heard) this.wanted.add(workspaceId);
  }

  /** As many workspaces as there are slots for, and those that no other worker has slots for either. */
  private async take(): Promise<void> {
    const { elapsed, now } = this.moment;
    if (this.wanted.size === 0 || !this.wayOut.isOpen(elapsed)) return;
    const free = Math.min(TAKE_BATCH, Math.ceil(this.bulkhead.promptFree / this.limits.perEndpoint));
    const workspaceIds = new Set([...this.left, ...shuffled(this.wanted).slice(0, Math.max(0, free))]);
    const asked = [...workspaceIds].map(
      (workspaceId) =>
        new HeldWorkspace({ workspaceId, lease: randomUUID() }, this.limits, this.bulkhead, elapsed),
    );
    const taken = await this.leases.take(asked, now).catch(async (error: unknown) => {
      // Some may have been taken. Nobody else would send for them until their leases end.
      await this.leases.release(asked).catch(() => undefined);
      throw error;
    });
    this.left = [];
    for (const workspace of asked) {
      this.wanted.delete(workspace.workspaceId);
      const endpoints = taken.get(workspace.workspaceId);
      if (!endpoints) continue;
      workspace.renewed(endpoints, elapsed);
      this.held = [...this.held, workspace];
    }
    if (this.wanted.size > 0 && this.bulkhead.promptFree > 0) this.wake.now();
  }

  private async read(): Promise<void> {
    const { moment } = this;
    // Slow endpoints may be many, and wait long for a slot.
    let { slowFree } = this.bulkhead;
    const endpoints = this.held
      .flatMap((workspace) => workspace.endpointsToRead(moment))
      .filter((endpoint) => !endpoint.isSlow || (slowFree -= 1) >= 0);
    if (endpoints.length === 0) return;
    const { pool } = this.parts;
    const queries = endpoints.map((endpoint) => endpoint.startRead());
    const batch = { fresh: READ_BATCH, replayed: this.limits.perEndpoint };
    const batches = await readDue(pool, queries, batch, moment.now);
    for (const [index, one] of batches.entries()) endpoints[index]!.addBatch(one);
    this.wake.now();
  }

  private async release(workspaces: readonly HeldWorkspace[]): Promise<void> {
    if (workspaces.length === 0) return;
    for (const workspace of workspaces) workspace.isLeaving = true;
    await this.leases.release(workspaces);
    this.held = this.held.filter((workspace) => !workspaces.includes(workspace));
  }

  /** Round-robin over the workspaces, as long as there are slots. */
  private send(): void {
    const { moment } = this;
    for (let sending = this.held; sending.length > 0;) {
      sending = sending.filter((workspace) => this.sendNext(workspace, moment));
      const served = new Set(sending);
      this.held = [...this.held.filter((workspace) => !served.has(workspace)), ...served];
    }
  }

  private sendNext(workspace: HeldWorkspace, moment: Moment): boolean {
    if (this.isStopping || !this.wayOut.isOpen(moment.elapsed)) return false;
    const next = workspace.startNext(moment);
    if (next === null) return false;
    const ended = this.wayOut.began();
    const onExchangeEnd = (result: AttemptResult | null): void => {
      const elapsed = performance.now();
      ended(result, elapsed);
      this.bulkhead.end(next.slot, elapsed);
      workspace.exchangeEnded(next.endpoint);
      this.scheduleSend();
    };
    const attempt = this.attempts
      .make({ workspace, ...next, onExchangeEnd })
      .then(
        () => next.endpoint.settled(next.delivery.deliveryId),
        (error: unknown) => {
          // Its outcome is not recorded. The next to take the workspace sends it again.
          workspace.isLeaving = true;
          this.logError(error, next.delivery);
        },
      )
      .finally(() => {
        this.attemptsUnderWay.delete(attempt);
        this.wake.now();
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
      'the outcome of a delivery cannot be recorded; it is sent again',
    );
  }

  /** Lets attempts finish for a while, cancels the rest, and gives up all leases. */
  private async shutDown(): Promise<void> {
    this.isStopping = true;
    const timer = setTimeout(() => this.attempts.cancel(), SHUTDOWN_MS);
    await Promise.allSettled([...this.attemptsUnderWay, this.finding]);
    clearTimeout(timer);
    for (let tries = 0; this.held.length > 0 && tries < RELEASE_TRIES; tries += 1) {
      await this.release(this.held).catch((error: unknown) => this.logError(error));
      if (this.held.length > 0) await delay(PAUSE_MS);
    }
  }
}

/** At random, since other workers want the same. */
const shuffled = <T>(items: Iterable<T>): readonly T[] =>
  Array.from(items, (item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
