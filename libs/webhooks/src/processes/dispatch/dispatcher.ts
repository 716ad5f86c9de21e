import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import { Notifications } from '#platform/postgres/notifications.js';
import { AsksForRefusal } from '#readings/contracts/index.js';
import type { EndpointStreams } from '../../application/endpoints.js';
import type { AnswerVault, HeaderVault, SecretVault } from '../../application/vaults.js';
import type { DisabledReason } from '../../contracts/index.js';
import {
  ASKED_REFUSAL,
  disablement,
  isOfWayOut,
  pauseAfterOwnFailure,
  retryPause,
  type AttemptResult,
} from '../../domain/attempt.js';
import { EndpointPace, WayOut } from '../../domain/flow-control.js';
import { signedHeaders } from '../../domain/signed-headers.js';
import { refsInForce } from '../../domain/webhook-endpoint.decider.js';
import { wholeBody } from '../../read-models/event-feed.js';
import type { Config } from '../../settings.js';
import { Bulkhead, type Limits } from './bulkhead.js';
import { OutcomeLog, type FinishedAttempt } from './outcome-log.js';
import {
  observedSender,
  openSender,
  type AttemptObserver,
  type ResolveHost,
  type SendsRequests,
} from './sender.js';
import {
  leaseMsOf,
  readDue,
  WorkspaceLeases,
  type DueDelivery,
  type WorkspaceLease,
} from './workspace-leases.js';

/** Postgres channel that is notified of a workspace with new deliveries; without a payload, of any. */
const DUE_CHANNEL = 'webhooks_due';
/** A notification may be lost, and none comes when a retry becomes due. */
const POLL_MS = 1_000;
/** Workspaces taken at once; the rest is left for other workers. */
const TAKE_BATCH = 8;
/** Workspaces that nobody else has taken for a second are taken at once, whether there are slots for them or not. */
const LEFT_BATCH = 64;
/** Pause of a busy worker before it queries the database again, so that batches fill (ms). */
const PAUSE_MS = 5;
const BUSY_ATTEMPTS = 16;
/** How often a worker looks for turns of endpoints with a pace (ms). */
const LOOK_MS = 10;
/** How long a worker keeps a workspace while others might take a part of its load (ms). */
const KEPT_MS = 5_000;
/** An attempt ends so long before its lease: time to read what it needs, and to record its outcome (ms). */
const RECORD_MS = 500;
/** How long attempts may take after the worker was stopped, before they are cancelled (ms). */
const SHUTDOWN_MS = 5_000;
const RELEASE_TRIES = 20;
/** Deliveries in flight at once, for each worker that has the workspace: docs/webhooks.md promises them to receivers. */
const CONCURRENCY: Omit<Limits, 'perProcess'> = { perEndpoint: 5, perWorkspace: 25 };

interface DispatcherDependencies {
  readonly pool: pg.Pool;
  readonly config: Config;
  readonly clock: Clock;
  readonly resolve: ResolveHost;
  readonly vault: SecretVault;
  readonly answers: AnswerVault;
  readonly headers: HeaderVault;
  readonly streams: EndpointStreams;
  readonly queryBus: Pick<QueryBus, 'execute'>;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  readonly observer?: AttemptObserver;
  readonly disableAfterMs?: number;
  readonly connectTimeoutMs?: number;
  readonly concurrency?: Omit<Limits, 'perProcess'>;
}

/** A workspace for which this worker sends. Times are those of the process. */
interface Held extends WorkspaceLease {
  readonly since: number;
  leasedUntil: number;
  /** Read, not sent yet. */
  queue: readonly DueDelivery[];
  /** What was read may have changed: it is read again before anything is sent. */
  isStale: boolean;
  /** Sends nothing more, so that another worker may take it. */
  isLeaving: boolean;
  /** Attempts whose outcome is not recorded yet. */
  attempts: number;
  readonly paces: Map<string, EndpointPace>;
  /** Endpoints that were disabled since the last look: their rows may not say so yet. */
  readonly disabled: Set<string>;
}

/**
 * Sends due deliveries until it is stopped: takes the leases of workspaces, reads their due deliveries, makes attempts, and
 * gives up the leases when nothing is left. When it dies, its leases expire and another worker sends the rest: at least once.
 */
export class Dispatcher {
  private readonly sender: SendsRequests;
  private readonly attempts: DeliveryAttempts;
  private readonly leases: WorkspaceLeases;
  private readonly leaseMs: number;
  /** Attempts start so long (ms) before a lease ends that none outlives it. */
  private readonly marginMs: number;
  private readonly bulkhead: Bulkhead;
  private readonly limits: Limits;
  private readonly wayOut = new WayOut();
  /** The one that was served longest ago first. */
  private held: readonly Held[] = [];
  /** Workspaces that may have something due and are not held. */
  private readonly wanted = new Set<string>();
  /** Those of them that nobody has taken for a second. */
  private left: readonly string[] = [];
  /** By delivery. */
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly recurring = new Recurring();
  private finding: Promise<void> | null = null;
  private isStopping = false;
  private pollAt = 0;
  private isWoken = false;
  private wakeUp = (): void => undefined;

  constructor(private readonly parts: DispatcherDependencies) {
    const { pool, config, observer = { attempted: () => undefined } } = parts;
    this.sender = observedSender(openSender(parts), pool, observer);
    this.attempts = new DeliveryAttempts(parts, this.sender, new OutcomeLog(pool));
    this.leaseMs = leaseMsOf(config);
    this.leases = new WorkspaceLeases(pool, this.leaseMs);
    this.marginMs = config.WEBHOOK_ATTEMPT_TIMEOUT_MS + RECORD_MS;
    this.limits = { ...(parts.concurrency ?? CONCURRENCY), perProcess: config.WEBHOOK_PROCESS_CONCURRENCY };
    this.bulkhead = new Bulkhead(this.limits, () => this.wake());
  }

  async run(signal: AbortSignal): Promise<void> {
    const notifications = new Notifications(this.parts.config.DATABASE_URL, DUE_CHANNEL, {
      onNotification: (workspaceId) => this.notified(workspaceId),
      // What came before a new connection was not heard.
      onConnected: () => this.notified(''),
    });
    notifications.start();
    signal.addEventListener('abort', () => this.wake(), { once: true });
    while (!signal.aborted) {
      await this.step().catch((error: unknown) => this.logError(error));
      if (this.underWay.size > BUSY_ATTEMPTS) await delay(PAUSE_MS);
      await this.sleep();
    }
    await this.shutDown();
    await notifications.stop();
  }

  private notified(workspaceId: string): void {
    const held = this.held.find((one) => one.workspaceId === workspaceId);
    if (workspaceId === '') this.pollAt = 0;
    else if (held && !held.isLeaving) held.isStale = true;
    else this.wanted.add(workspaceId);
    this.wake();
  }

  private wake(): void {
    this.isWoken = true;
    this.wakeUp();
  }

  private async sleep(): Promise<void> {
    const isPaced = this.held.some(({ paces, queue }) => paces.size > 0 && queue.length > 0);
    const untilPoll = Math.max(0, this.pollAt - performance.now());
    if (!this.isWoken)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, isPaced ? LOOK_MS : untilPoll);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.isWoken = false;
  }

  private async step(): Promise<void> {
    if (performance.now() >= this.pollAt) await this.poll();
    await this.take();
    await this.read();
    this.send();
    await this.release(this.held.filter((one) => this.isIdle(one)));
  }

  /** Renews leases, has everything read again, and begins to look for what no worker has taken. */
  private async poll(): Promise<void> {
    this.pollAt = performance.now() + POLL_MS;
    await this.renew();
    for (const one of this.held) {
      one.isStale = true;
      one.disabled.clear();
    }
    if (this.bulkhead.free.prompt <= 0) this.leaveOne();
    // Nothing waits for this, and deliveries come meanwhile.
    this.finding ??= this.find()
      .catch((error: unknown) => this.logError(error))
      .finally(() => (this.finding = null));
  }

  private async find(): Promise<void> {
    const due = await this.leases.due(this.parts.clock.now());
    this.left = due.filter((workspaceId) => this.wanted.has(workspaceId)).slice(0, LEFT_BATCH);
    for (const workspaceId of due) this.wanted.add(workspaceId);
    if (due.length > 0) this.wake();
  }

  private async renew(): Promise<void> {
    const elapsed = performance.now();
    const kept = this.held.filter(({ leasedUntil }) => elapsed < leasedUntil);
    const taken = await this.leases.take(kept, this.parts.clock.now());
    this.held = this.held.filter(({ workspaceId }) => taken.has(workspaceId));
    for (const one of this.held) one.leasedUntil = elapsed + this.leaseMs;
  }

  /** So that a worker that was added gets a part of a long queue. */
  private leaveOne(): void {
    const before = performance.now() - KEPT_MS;
    const [longest] = this.held
      .filter(({ since, queue }) => since < before && !queue.some((one) => this.bulkhead.isSlow(one)))
      .toSorted((a, b) => a.since - b.since);
    if (longest) longest.isLeaving = true;
  }

  /** As many workspaces as there are slots for, and those that no other worker has slots for either. */
  private async take(): Promise<void> {
    const elapsed = performance.now();
    if (this.wanted.size === 0 || !this.wayOut.isOpen(elapsed)) return;
    const { prompt } = this.bulkhead.free;
    const free = Math.max(0, Math.min(TAKE_BATCH, Math.ceil(prompt / this.limits.perEndpoint)));
    const workspaceIds = new Set([...this.left, ...shuffled(this.wanted).slice(0, free)]);
    const asked = [...workspaceIds].map((workspaceId) => ({ workspaceId, lease: randomUUID() }));
    const taken = await this.leases.take(asked, this.parts.clock.now()).catch(async (error: unknown) => {
      // Some may have been taken. Nobody else would send for them until their leases end.
      await this.leases.release(asked).catch(() => undefined);
      throw error;
    });
    this.left = [];
    for (const { workspaceId } of asked) this.wanted.delete(workspaceId);
    const added = asked
      .filter(({ workspaceId }) => taken.has(workspaceId))
      .map((lease) => ({
        ...lease,
        since: elapsed,
        leasedUntil: elapsed + this.leaseMs,
        queue: [],
        isStale: true,
        isLeaving: false,
        attempts: 0,
        paces: new Map<string, EndpointPace>(),
        disabled: new Set<string>(),
      }));
    this.held = [...this.held, ...added];
    if (this.wanted.size > 0 && prompt > 0) this.wake();
  }

  private async read(): Promise<void> {
    // Those with slow endpoints alone may be many, and wait long for a slot.
    let { slow } = this.bulkhead.free;
    const read = this.held
      .filter((one) => one.isStale && this.maySend(one))
      .filter(
        ({ queue }) =>
          queue.length === 0 || !queue.every((one) => this.bulkhead.isSlow(one)) || (slow -= 1) >= 0,
      );
    if (read.length === 0) return;
    for (const one of read) one.isStale = false;
    const { pool, clock } = this.parts;
    const workspaceIds = read.map(({ workspaceId }) => workspaceId);
    const { perEndpoint } = this.limits;
    const { full } = this.bulkhead;
    const query = { workspaceIds, underWay: [...this.underWay.keys()], full, perEndpoint };
    const due = await readDue(pool, query, clock.now());
    const queues = new Map(workspaceIds.map((workspaceId) => [workspaceId, [] as DueDelivery[]]));
    for (const one of due) queues.get(one.workspaceId)!.push(one);
    for (const one of read) one.queue = queues.get(one.workspaceId)!;
  }

  private async release(idle: readonly Held[]): Promise<void> {
    if (idle.length === 0) return;
    for (const one of idle) one.isLeaving = true;
    await this.leases.release(idle);
    this.held = this.held.filter((one) => !idle.includes(one));
  }

  private maySend({ isLeaving, leasedUntil }: Held): boolean {
    return !isLeaving && performance.now() < leasedUntil - this.marginMs;
  }

  /** Nothing is in flight or can be sent: the lease is of no use. */
  private isIdle({ attempts, isLeaving, isStale, queue, paces }: Held): boolean {
    const now = this.parts.clock.now();
    const isDone = !isStale && queue.length === 0 && [...paces.values()].every((pace) => pace.isRested(now));
    return attempts === 0 && (isLeaving || isDone);
  }

  /** Round-robin over the workspaces, as long as there are slots. */
  private send(): void {
    for (let sending = this.held; sending.length > 0;) {
      sending = sending.filter((one) => this.sendNext(one));
      const served = new Set(sending);
      this.held = [...this.held.filter((one) => !served.has(one)), ...served];
    }
  }

  private sendNext(held: Held): boolean {
    if (this.isStopping || held.isStale || !this.maySend(held)) return false;
    if (!this.wayOut.isOpen(performance.now())) return false;
    const now = this.parts.clock.now();
    const next = held.queue.find((one) => this.allows(held, one, now));
    if (!next) return false;
    held.queue = held.queue.filter((one) => one !== next);
    held.attempts += 1;
    held.paces.get(next.endpointId)?.take(now);
    const ended = this.wayOut.began();
    const leave = this.bulkhead.start(next);
    const onSuccess = (): void => {
      leave();
      this.wake();
    };
    const attempt = this.attempts
      .make(next, held.lease, onSuccess)
      .catch((error: unknown) => {
        // Its outcome is not recorded. The next to take the workspace sends it again.
        held.isLeaving = true;
        this.logError(error, next);
        return null;
      })
      .then((end) => {
        ended(end?.result ?? null, performance.now());
        this.look(held, next, end);
        leave();
        held.attempts -= 1;
        this.underWay.delete(next.deliveryId);
        this.wake();
      });
    this.underWay.set(next.deliveryId, attempt);
    return true;
  }

  /** What an attempt says of what was read for its endpoint: a failure may be one too many for more. */
  private look(held: Held, { endpointId, isProbe }: DueDelivery, ended: Ended): void {
    if (ended?.hasDisabled) held.disabled.add(endpointId);
    const hasFailed = ended !== null && ended.result.error !== null;
    if (hasFailed) held.queue = held.queue.filter((one) => one.endpointId !== endpointId);
    if (isProbe || !held.queue.some((one) => one.endpointId === endpointId)) held.isStale = true;
  }

  private allows(held: Held, delivery: DueDelivery, now: number): boolean {
    const { endpointId, isProbe } = delivery;
    if (held.disabled.has(endpointId) || (isProbe && this.bulkhead.at(endpointId) > 0)) return false;
    return (paceOf(held, delivery)?.allows(now) ?? true) && this.bulkhead.allows(delivery);
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
    const timer = setTimeout(() => this.sender.cancel(), SHUTDOWN_MS);
    await Promise.all([...this.underWay.values(), this.finding]);
    clearTimeout(timer);
    for (let tries = 0; this.held.length > 0 && tries < RELEASE_TRIES; tries += 1) {
      await this.release(this.held).catch((error: unknown) => this.logError(error));
      if (this.held.length > 0) await delay(PAUSE_MS);
    }
  }
}

/** The pace of an endpoint. A new limit begins where the old one stood. */
const paceOf = ({ paces }: Held, { endpointId, maxPerSecond }: DueDelivery): EndpointPace | undefined => {
  const known = paces.get(endpointId);
  if (maxPerSecond === null) paces.delete(endpointId);
  else if (known?.perSecond !== maxPerSecond)
    paces.set(endpointId, new EndpointPace(maxPerSecond, known?.nextAt ?? 0));
  return paces.get(endpointId);
};

/** At random, since other workers want the same. */
const shuffled = <T>(items: Iterable<T>): readonly T[] =>
  Array.from(items, (item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);

/** How an attempt ended. `null`: nothing was sent, or its outcome is unknown. */
type Ended = { readonly result: AttemptResult; readonly hasDisabled: boolean } | null;

/** When a delivery that could not be prepared is due again (ms). */
const RETRY_PREPARING_MS = 30_000;
/** An endpoint without a success for this long, and with 10 failures, is disabled (ms): 120 hours, as docs/webhooks.md says. */
const DISABLE_AFTER_MS = 432_000_000;

/** Makes attempts: signs, sends, records the outcome, and disables endpoints that fail for too long. */
class DeliveryAttempts {
  private readonly recurring = new Recurring();

  constructor(
    private readonly parts: DispatcherDependencies,
    private readonly sender: SendsRequests,
    private readonly outcomes: OutcomeLog,
  ) {}

  /**
   * Resolves when the outcome is recorded, or the attempt was cancelled or rescheduled.
   * @param lease of its workspace @param onSuccess called before a success is recorded: the next may start meanwhile
   */
  async make(delivery: DueDelivery, lease: string, onSuccess: () => void): Promise<Ended> {
    const { clock, answers } = this.parts;
    const startedAt = clock.now();
    const result = await this.send(delivery, startedAt).catch((error: unknown) =>
      this.reschedule(delivery, lease, error),
    );
    if (result === null || result === 'cancelled') return null;
    if (result.error === null) onSuccess();
    const endedAt = clock.now();
    const pause = result.error === null ? null : this.pauseAfter(delivery, result);
    const attempt = {
      ...delivery,
      number: delivery.attempt,
      lease,
      startedAt,
      endedAt,
      result,
      answer: result.error === null ? null : await answers.seal(delivery, result.responseBody),
      nextAt: pause === null ? null : endedAt + pause,
    };
    const failures = await this.outcomes.record(attempt);
    this.report(delivery, result);
    // A success; or it says nothing about the receiver, the endpoint has another URL now, or another worker has the workspace.
    if (failures === null) return { result, hasDisabled: false };
    const after = this.parts.disableAfterMs ?? DISABLE_AFTER_MS;
    const reason = disablement({ statusCode: result.statusCode, ...failures, at: endedAt }, after);
    if (reason !== null) await this.disable(delivery, attempt, reason, failures.failingSince);
    return { result, hasDisabled: reason !== null };
  }

  private pauseAfter(
    { deliveryId, attempt }: DueDelivery,
    { error, retryAfterMs }: AttemptResult,
  ): number | null {
    const { WEBHOOK_RETRY_SCHEDULE_MS: schedule } = this.parts.config;
    return isOfWayOut(error)
      ? pauseAfterOwnFailure(schedule, deliveryId, attempt)
      : retryPause(schedule, deliveryId, attempt, retryAfterMs);
  }

  /** Nothing was sent, for want of a key, secret or headers. It may last: meanwhile it takes no slot and counts no attempt. */
  private async reschedule(delivery: DueDelivery, lease: string, error: unknown): Promise<null> {
    const { deliveryId, attempt: number, readingId, requestId } = delivery;
    const { clock, log } = this.parts;
    await this.outcomes.reschedule({ deliveryId, number, lease }, clock.now() + RETRY_PREPARING_MS);
    const reason = error instanceof Error ? error.message : 'unknown';
    const times = this.recurring.happened(reason);
    if (times > 0)
      log.warn(
        { deliveryId, readingId, requestId, reason, times },
        'a delivery cannot be prepared; it is tried again',
      );
    return null;
  }

  /** A delivered webhook is the rule: at thousands a second, only `LOG_LEVEL=debug` shows each. */
  private report(delivery: DueDelivery, { error, statusCode }: AttemptResult): void {
    const { type, eventId, requestId, readingId, deliveryId, endpointId, attempt } = delivery;
    const about = { requestId, readingId, eventId, type, deliveryId, endpointId };
    const details = { ...about, attempt, statusCode };
    if (error === null) this.parts.log.debug(details, 'webhook delivered');
    else this.parts.log.info({ ...details, error }, 'webhook not delivered');
  }

  private async send(delivery: DueDelivery, at: number): Promise<AttemptResult | 'cancelled'> {
    if (await this.isRefusedAsAsked(delivery)) return ASKED_REFUSAL;
    const { vault, queryBus } = this.parts;
    const { workspaceId, endpointId, url } = delivery;
    const secrets = await vault.open(endpointId, refsInForce(delivery.secrets, at));
    if (secrets.length === 0) throw new Error('no secret in force to sign with');
    const body = Buffer.from(await wholeBody(delivery, queryBus), 'utf8');
    const redelivery = delivery.redelivery || delivery.replayed;
    const timestamp = Math.floor(at / 1_000);
    const headers = signedHeaders({ ...delivery, redelivery, body, secrets, timestamp });
    const custom = await this.parts.headers.open(endpointId, delivery.headersRef);
    return this.sender.send({ workspaceId, endpointId, url, headers: { ...custom, ...headers }, body });
  }

  /** What a person asks to send, such as a trial or a redelivery, is sent. */
  private async isRefusedAsAsked(delivery: DueDelivery): Promise<boolean> {
    const { livemode, readingId, attempt, test, redelivery, replayed } = delivery;
    if (livemode || readingId === null || test || redelivery || replayed) return false;
    return this.parts.queryBus.execute(new AsksForRefusal(readingId, attempt));
  }

  private async disable(
    { workspaceId }: DueDelivery,
    { deliveryId, number, endpointId, url }: FinishedAttempt,
    reason: DisabledReason,
    failingSince: number,
  ): Promise<void> {
    const { kind } = await this.parts.streams.execute(
      endpointId,
      { type: 'DisableEndpoint', reason, url },
      {
        workspaceId,
        by: causedBy({ correlationId: deliveryId, causationId: deliveryId }, 'webhooks.dispatcher'),
        intent: `disable|${deliveryId}|${number}`,
      },
    );
    if (kind !== 'accepted') return;
    const since = instant(failingSince);
    this.parts.log.warn({ endpointId, deliveryId, reason, since }, 'webhook endpoint disabled');
  }
}
