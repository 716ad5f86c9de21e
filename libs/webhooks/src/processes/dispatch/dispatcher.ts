import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { DeliveryAttempts } from './delivery-attempts.js';
import { readDue } from './due-deliveries.js';
import type { Lanes } from './workspace-queues.js';
import { Places } from './in-flight-limit.js';
import { Turn, type Limits, type Moment } from './claimed-workspace.js';
import type { WakeSignal } from './wake-signal.js';

/** Lanes taken at once, so that another worker that looks at the same time finds some too. */
const LANES_AT_ONCE = 8;
/** New deliveries of one endpoint read at once. */
const READ_AT_ONCE = 32;
/** A busy worker lets a little come together before it asks the database again. */
const PAUSE_MS = 5;
const BUSY = 16;
/** How often it is seen whether a turn has ended. */
const TURNS_CHECK_MS = 10;
/** How long attempts may go on after the worker was told to stop; then they are cut off. */
const DRAIN_MS = 5_000;
const GIVE_BACK_TRIES = 20;

export interface DispatcherParts {
  readonly pool: pg.Pool;
  readonly lanes: Lanes;
  readonly limits: Limits & { readonly leaseMs: number };
  readonly attempts: DeliveryAttempts;
  readonly wake: WakeSignal;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}

/**
 * Sends due deliveries until told to stop. What this worker does not finish is free again when its lease ends, here or
 * elsewhere: at least once, never lost.
 */
export class Dispatcher implements WorkLoop {
  readonly name = 'webhooks.dispatcher';
  readonly role = 'webhooks';
  private turns: Turn[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private readonly places = new Places();
  /** Lanes may be ready that nobody has. */
  private mayBeReady = true;
  private isSendingDue = false;
  private isStopping = false;

  constructor(private readonly parts: DispatcherParts) {}

  async run(signal: AbortSignal): Promise<void> {
    const { wake, attempts } = this.parts;
    const listening = wake.listen(signal);
    while (!signal.aborted) {
      await this.step().catch((error: unknown) => this.complain(error));
      if (this.places.taken > BUSY) await delay(PAUSE_MS);
      const mayHaveNews = await wake.wait(this.turns.length > 0 ? TURNS_CHECK_MS : Infinity, signal);
      if (!mayHaveNews) continue;
      this.mayBeReady = true;
      for (const { endpoints } of this.turns) for (const endpoint of endpoints) endpoint.lookAgain();
    }
    await this.drain();
    await Promise.all([attempts.close(), listening]);
  }

  private get moment(): Moment {
    return { elapsed: performance.now(), now: this.parts.clock.now() };
  }

  private async step(): Promise<void> {
    await this.giveBack(this.turns.filter((turn) => turn.hasEnded(this.moment)));
    await this.takeLanes();
    await this.read();
    this.send();
  }

  private async takeLanes(): Promise<void> {
    const { lanes, limits, clock } = this.parts;
    const elapsed = performance.now();
    const wished = this.turns.reduce((sum, turn) => sum + turn.demand(elapsed) - turn.inFlight, 0);
    const free = Math.ceil((this.places.free - wished) / limits.perEndpoint);
    if (!this.mayBeReady || free <= 0) return;
    const count = Math.min(LANES_AT_ONCE, free);
    const taken = await lanes.take(count, clock.now());
    this.mayBeReady = taken.length === count;
    if (this.mayBeReady) this.parts.wake.now();
    for (const lane of taken) this.turns.push(new Turn(lane, limits, performance.now()));
  }

  private async read(): Promise<void> {
    const wanting = this.turns.flatMap((turn) => turn.wanting(this.moment));
    if (wanting.length === 0) return;
    const { pool, limits, clock } = this.parts;
    const wanted = wanting.map((endpoint) => endpoint.wanted());
    const read = { fresh: READ_AT_ONCE, replayed: limits.perEndpoint };
    const found = await readDue(pool, wanted, read, clock.now());
    for (const [index, one] of found.entries()) wanting[index]!.add(one);
    this.parts.wake.now();
  }

  private async giveBack(ended: readonly Turn[]): Promise<void> {
    if (ended.length === 0) return;
    const { lanes, clock } = this.parts;
    for (const turn of ended) turn.end(performance.now());
    const result = await lanes.giveBack(ended, clock.now());
    for (const turn of result.ended) {
      turn.isGivenBack = true;
      this.places.outlast(turn.inFlight);
    }
    // A lane that another worker took over meanwhile cannot be given back.
    this.turns = this.turns.filter((turn) => !turn.isGivenBack && !turn.isLost(performance.now()));
    if (!result.hasMore) return;
    this.mayBeReady = true;
    this.parts.wake.now();
  }

  /** One of each workspace, then a second of each, until there are no more places. */
  private send(): void {
    const { moment } = this;
    for (let sending = this.turns; sending.length > 0 && this.places.free > 0;) {
      sending = sending.filter((turn) => this.places.free > 0 && this.sendNext(turn, moment));
    }
    // Whoever was first is last the next time.
    const [first, ...others] = this.turns;
    if (first) this.turns = [...others, first];
  }

  private sendNext(turn: Turn, moment: Moment): boolean {
    const next = this.isStopping ? null : turn.take(moment);
    if (next === null) return false;
    this.places.take();
    const landed = (): void => {
      this.places.leave(turn.isGivenBack);
      turn.landed(next.endpoint);
      this.sendSoon();
    };
    const attempt = this.parts.attempts
      .make({ turn, ...next, landed })
      .then(
        () => next.endpoint.settled(next.delivery.deliveryId),
        (error: unknown) => {
          turn.end(performance.now());
          this.complain(error, next.delivery.deliveryId);
        },
      )
      .finally(() => {
        this.underWay.delete(attempt);
        this.parts.wake.now();
      });
    this.underWay.add(attempt);
    return true;
  }

  /** Once for all answers that come in together. */
  private sendSoon(): void {
    if (this.isSendingDue) return;
    this.isSendingDue = true;
    setImmediate(() => {
      this.isSendingDue = false;
      this.send();
    });
  }

  private complain(error: unknown, deliveryId?: string): void {
    const reason = error instanceof Error ? error.message : 'unknown';
    if (deliveryId === undefined) this.parts.log.warn({ reason }, 'due deliveries cannot be read');
    else this.parts.log.error({ deliveryId, reason }, 'a delivery was left to its lease');
  }

  /** Lets attempts finish for a while, then cuts them off, and gives back what this worker has. */
  private async drain(): Promise<void> {
    this.isStopping = true;
    const timer = setTimeout(() => this.parts.attempts.cutOff(), DRAIN_MS);
    await Promise.allSettled(this.underWay);
    clearTimeout(timer);
    for (let tries = 0; this.turns.length > 0 && tries < GIVE_BACK_TRIES; tries += 1) {
      await this.giveBack(this.turns).catch((error: unknown) => this.complain(error));
      if (this.turns.length > 0) await delay(PAUSE_MS);
    }
  }
}
