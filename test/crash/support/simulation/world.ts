import type { Pool } from 'pg';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { loadCheckpoint, type Checkpoint } from '#event-sourcing/projections/checkpoint.js';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { BatchHandler } from '#event-sourcing/projections/runner.js';
import { ParkedKeys } from '#event-sourcing/projections/parked-streams.js';
import type { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import type { WrappingKeys } from '#platform/crypto/wrapping-keys.js';
import { Clocks } from './clocks.js';
import {
  faultyStore,
  type OnTheWay,
  maybeLoseSuffix,
  type Lost,
  callOver,
  isDeaf,
  maybePartition,
  brokenConnection,
  simulatedPool,
} from './faults.js';
import type { SimulatedPostgres } from './postgres.js';
import type { Life, Scheduler } from './scheduler.js';
import { apiOf, workOf, type Api, type Surroundings } from './service.js';

const APIS = 2;
const WORKERS = 2;
const RESTART_MS = 2_000;
/** Events in a consumer's batch. */
const BATCH = 6;
const SAME_JOB_TWICE = 0.05;
const KEY = { id: 'sim', key: Buffer.alloc(32, 9), fingerprint: null };
export const WRAPPING_KEYS: WrappingKeys = {
  current: async () => KEY,
  named: async () => KEY.key,
};

/** Two API and two worker processes on one event store and one database. Any of them may fail. */
export class World {
  readonly onTheWay: OnTheWay = { count: 0 };
  readonly alarms: string[] = [];
  readonly consumers = new Map<string, Consumer>();
  crashes = 0;
  /** The API processes that currently answer. */
  readonly apis: (Api | null)[] = Array.from({ length: APIS }, () => null);
  private readonly sleepers = new Set<() => void>();
  /** The running processes. */
  private readonly lives = new Map<string, Life>();
  /** What PostgreSQL has lost for good. */
  readonly lost: Lost;
  private readonly clocks: Clocks;

  constructor(
    readonly scheduler: Scheduler,
    readonly store: InMemoryEventStore,
    readonly postgres: SimulatedPostgres,
  ) {
    this.clocks = new Clocks(scheduler, this.postgres);
    this.clocks.disturbDatabase();
    this.lost = maybeLoseSuffix(scheduler, this.postgres);
    scheduler.onStep = () => {
      for (const look of [...this.sleepers]) look();
    };
    scheduler.onCrash = ({ name }) => {
      this.crashes += 1;
      const api = /^api(\d)$/.exec(name);
      if (api) this.apis[Number(api[1])] = null;
      scheduler.after(scheduler.random.between(1, RESTART_MS), `${name} starts again`, () =>
        this.start(name),
      );
    };
    for (let index = 0; index < APIS; index += 1) this.start(`api${index}`);
    for (let index = 0; index < WORKERS; index += 1) this.start(`worker${index}`);
  }

  private start(name: string): void {
    const life: Life = { name, alive: true, skewMs: this.clocks.firstSkewMs(), cuts: new Map() };
    this.lives.set(name, life);
    this.clocks.maybeJump(life);
    if (this.scheduler.isRough) maybePartition(this.scheduler, life);
    const surroundings = this.surroundingsOf(life);
    if (name.startsWith('api')) this.apis[Number(name.slice(3))] = apiOf(surroundings);
    else this.startWorker(life, surroundings);
  }

  mendClocks(): void {
    this.clocks.mend(this.lives.values());
  }

  private surroundingsOf(life: Life): Surroundings {
    const { scheduler } = this;
    const pool = simulatedPool(this.postgres, scheduler, life, this.onTheWay);
    return {
      scheduler,
      store: faultyStore(this.store, scheduler, life, this.onTheWay),
      pool,
      clock: { now: () => scheduler.now + life.skewMs },
      time: { now: () => this.clocks.trustedNow(life) },
      keys: this.keysOf(pool),
      alarm: (message) => this.alarms.push(message),
    };
  }

  private keysOf(pool: Pool): SubjectKeys {
    return new SubjectKeys(pool, WRAPPING_KEYS);
  }

  private startWorker(life: Life, surroundings: Surroundings): void {
    const work = workOf(surroundings);
    const never = new AbortController().signal;
    for (const consumer of work.consumers) {
      this.consumers.set(consumer.name, consumer);
      void this.follow(life, consumer, surroundings, never);
    }
    for (const loop of work.loops) void loop.run(never);
    const handlers = new Map(work.jobs.map(({ task, handle }) => [task, handle]));
    void this.takeJobs(life, handlers, never);
  }

  /** Like the runner, but without a subscription: batches from the durable checkpoint. No event may be poison. */
  private async follow(
    life: Life,
    consumer: Consumer,
    { store, pool, alarm }: Surroundings,
    signal: AbortSignal,
  ): Promise<void> {
    const error = (details: object, message: string) => alarm(`${message}: ${JSON.stringify(details)}`);
    const options = { pool, log: { warn: () => undefined, error } };
    let from: Checkpoint | null = null;
    let { losses } = this.postgres;
    while (life.alive) {
      try {
        from ??= await loadCheckpoint(pool, consumer, () => store.head());
        const { position } = from;
        const isSent = () =>
          !isDeaf(this.scheduler, life, 'eventStore') && this.after(position, consumer).length > 0;
        // The runner looks at its stored checkpoint now and then.
        const hasGoneBack = () => this.postgres.losses !== losses;
        if (!isSent()) {
          await this.come(() => !life.alive || isSent() || hasGoneBack());
          if (hasGoneBack()) from = null;
          ({ losses } = this.postgres);
          continue;
        }
        const batch = this.after(position, consumer).slice(0, this.scheduler.random.between(1, BATCH));
        const to = batch.at(-1)!.position;
        const handler = new BatchHandler(consumer, options, new ParkedKeys());
        from = await handler.handle(from, { events: batch, position: to }, signal);
      } catch {
        from = null;
        await this.scheduler.sleep(this.scheduler.random.between(50, 500));
      }
    }
  }

  private after(position: bigint | null, { categories }: Consumer): StoredEvent[] {
    const events: StoredEvent[] = [];
    const { log } = this.store;
    for (
      let index = log.length - 1;
      index >= 0 && (position === null || log[index]!.position > position);
      index -= 1
    ) {
      if (categories.includes(categoryOf(log[index]!.stream))) events.push(log[index]!);
    }
    return events.reverse();
  }

  /** Resolves once the condition is true. */
  private come(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isTrue()) return;
        this.sleepers.delete(look);
        resolve();
      };
      this.sleepers.add(look);
    });
  }

  /** Runs jobs like graphile-worker, some of them on two workers at once. */
  private async takeJobs(
    life: Life,
    handlers: ReadonlyMap<
      string,
      (payload: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<void>
    >,
    signal: AbortSignal,
  ): Promise<void> {
    const { scheduler, postgres } = this;
    const { random } = scheduler;
    while (life.alive) {
      await this.come(() => !life.alive || postgres.hasDueJob());
      const job = await this.ask(life, 'take a job', () =>
        postgres.takeJob(
          (count) => random.between(0, count - 1),
          () => scheduler.isRough && random.chance(SAME_JOB_TWICE),
        ),
      );
      if (!job) continue;
      const { task, payload } = job;
      const failed = await handlers.get(task)!(payload, signal).then(
        () => false,
        () => true,
      );
      // Without an answer the job stays locked, and a rescue adds it again.
      await this.ask(life, `end ${task} of ${payload['readingId']}`, () =>
        failed ? postgres.retryJob(job) : postgres.endJob(job),
      );
    }
  }

  /** What a worker does with jobs; `null` without an answer. */
  private ask<T>(life: Life, label: string, effect: () => Promise<T>): Promise<T | null> {
    const { scheduler } = this;
    const call = { label, effect, gone: brokenConnection, kind: 'write' } as const;
    return callOver(scheduler, life, 'postgres', call).catch(() => null);
  }
}
