import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { BillingWorkerModule } from '#billing/billing-worker.module.js';
import { CreditBooks, TestBooks, OpenBookHandler } from '#billing/application/credit-books.js';
import { createCreditsExecutor, createTestBookExecutor } from '#billing/executors.js';
import { GetOpenHoldsHandler, HoldFence } from '#billing/application/upkeep.js';
import { ReserveCreditsHandler, Settlements } from '#billing/application/reservations.js';
import { OpenBook } from '#billing/contracts/index.js';
import type { Clock, TrustedClock } from '#event-sourcing/core/clock.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { Digester } from '#platform/crypto/digest.js';
import type { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { RenderAttempts, PublishDocumentJob } from '#publishing/application/publish-document.job.js';
import { ArtifactStore } from '#publishing/application/artifact.store.js';
import {
  RepublishDocumentHandler,
  WithdrawPublicationHandler,
  createPublicationExecutor,
} from '#publishing/application/publications.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { PublishingWorkerModule } from '#publishing/publishing-worker.module.js';
import {
  AbandonReadingHandler,
  EraseReadingHandler,
  TestReadingSweep,
} from '#readings/application/erase-reading.js';
import {
  GenerateReadingJob,
  InputUnprocessable,
  ReadingTimers,
} from '#readings/application/generate-reading.js';
import { RequestReadingHandler } from '#readings/application/request-reading.js';
import { KeySweep } from '#readings/application/sweep-keys.js';
import {
  AbandonReading,
  EraseReading,
  GetOpenHolds,
  GetPublicationTime,
  GetReadingResult,
  GetReadingSummary,
  ReserveCredits,
  WithdrawPublication,
} from '#readings/contracts/index.js';
import {
  GetPublicationTimeHandler,
  GetReadingResultHandler,
  GetReadingSummaryHandler,
  ReadingQuery,
} from '#readings/read-models/reading.query.js';
import { createReadingExecutor } from '#readings/executors.js';
import { ReadingsWorkerModule } from '#readings/readings-worker.module.js';
import { fanOutConsumer } from '#webhooks/processes/fan-out.consumer.js';
import { GetPaperHandler } from '#workspaces/application/workspaces.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import type { Scheduler } from './scheduler.js';
import type { Config } from '../../../../apps/service/src/settings.js';

export const CONFIG = {
  // Simulated clocks are off by as much.
  CLOCK_REFUSE_MS: 180_000,
  ENQUEUE_TIMEOUT_MS: 2_500,
  READING_LEASE_MS: 60_000,
  READING_DELAYED_AFTER_MS: 300_000,
  READING_TIMEOUT_MS: 86_400_000,
  RESERVATION_FENCE_MS: 60_000,
  KEY_EPOCH_MS: 604_800_000,
} as Config;

/** Far less than what is sensible: age alone must not decide which keys stay. */
const ABANDONED_AFTER_MS = 1_000;

/** A process's connections to the world. */
export interface Surroundings {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly time: TrustedClock;
  readonly keys: SubjectKeys;
  readonly scheduler: Scheduler;
  /** Receives the alarms of the service. */
  readonly alarm: (message: string) => void;
}

/** Probabilities that a calculation fails transiently and permanently. */
const CALCULATION_FAILS = 0.05;
const HOPELESS = 0.02;

const digester = new Digester(Buffer.alloc(32, 7).toString('base64'));
const silent = { debug: () => undefined, info: () => undefined, error: () => undefined };

type Handler = { execute(message: never): Promise<unknown> };
type MessageType = abstract new (...args: never[]) => object;

/** The command and query bus without Nest: the same handlers, found by the class of the message. */
/** Handlers may be added until the first message. */
const busOf = (handlers: readonly (readonly [MessageType, Handler])[]) => {
  return {
    execute: async (message: object): Promise<unknown> => {
      const handler = new Map<unknown, Handler>(handlers).get(message.constructor);
      if (!handler) throw new TypeError(`The simulation answers no ${message.constructor.name}`);
      return handler.execute(message as never);
    },
  };
};

/** Of the document of a reading. */
export const MOST_VERSIONS = 3;

/** The service's own classes, put together as its modules do. */
const application = ({ store, pool, clock, time, keys }: Surroundings) => {
  const books = new CreditBooks(createCreditsExecutor(store, 2 * CONFIG.CLOCK_REFUSE_MS), time);
  const testBooks = new TestBooks(createTestBookExecutor(store, 2 * CONFIG.CLOCK_REFUSE_MS), time);
  const readings = createReadingExecutor(store);
  const query = new ReadingQuery(pool, store, keys, digester);
  const publications = createPublicationExecutor(store);
  const handlers: (readonly [MessageType, Handler])[] = [
    [OpenBook, new OpenBookHandler(books)],
    [ReserveCredits, new ReserveCreditsHandler(books, testBooks)],
    [AbandonReading, new AbandonReadingHandler(readings, time)],
    [WithdrawPublication, new WithdrawPublicationHandler(publications, clock)],
  ];
  const commands = busOf(handlers) as unknown as CommandBus;
  const erasures = new EraseReadingHandler(readings, clock, keys, commands);
  handlers.push([EraseReading, erasures]);
  const queries = busOf([
    [GetReadingResult, new GetReadingResultHandler(query)],
    [GetReadingSummary, new GetReadingSummaryHandler(query)],
    [GetPublicationTime, new GetPublicationTimeHandler(query)],
    [GetPaper, new GetPaperHandler(pool)],
    [GetOpenHolds, new GetOpenHoldsHandler(books, testBooks)],
  ]) as unknown as QueryBus;
  const republications = new RepublishDocumentHandler(publications, clock, queries, MOST_VERSIONS);
  return { books, testBooks, readings, publications, query, commands, queries, erasures, republications };
};

/** The work of an API process for requests, below HTTP. */
export interface Api {
  readonly requests: RequestReadingHandler;
  readonly erasures: EraseReadingHandler;
  readonly republications: RepublishDocumentHandler;
}

export const apiOf = (surroundings: Surroundings): Api => {
  const { clock, keys } = surroundings;
  const { readings, commands, query, erasures, republications } = application(surroundings);
  return {
    requests: new RequestReadingHandler(readings, clock, CONFIG, commands, digester, keys, query),
    erasures,
    republications,
  };
};

/** Loops of the worker that the simulation runs. The others change nothing that it checks. */
const LOOPS = [
  'billing.hold-fence',
  'readings.generate.rescue',
  'readings.key-sweep',
  'publishing.publish.rescue',
];

/** The work of a worker process: its consumers, jobs and loops, registered by the modules themselves. */
export const workOf = (surroundings: Surroundings): WorkRegistry => {
  const { pool, store, clock, time, keys, scheduler, alarm } = surroundings;
  const { books, testBooks, readings, publications, commands, queries } = application(surroundings);
  const work = new WorkRegistry();
  const log = {
    ...silent,
    warn: (_: unknown, message?: string) => void (message?.includes('not open') && alarm(message)),
  };
  const calculate = ({ readingId }: { readingId: string }): Buffer => {
    if (scheduler.isRough && scheduler.random.chance(HOPELESS)) throw new InputUnprocessable('hopeless');
    if (scheduler.isRough && scheduler.random.chance(CALCULATION_FAILS)) throw new Error('failed');
    return Buffer.from(JSON.stringify({ readingId }));
  };
  const timers = new ReadingTimers(readings, time, store, CONFIG);
  const generate = new GenerateReadingJob(readings, calculate, time, CONFIG, log as never, keys, timers);
  const pdf = { render: async () => Buffer.from('%PDF'), close: async () => undefined };
  const artifacts = new ArtifactStore(pool, keys);
  const publish = new PublishDocumentJob(
    publications,
    pdf,
    clock,
    log as never,
    queries,
    artifacts,
    new RenderAttempts(pool),
  );
  const fence = new HoldFence(commands, pool, time, CONFIG);
  const idle = { nudge: async () => undefined } as never;
  const reconciliation = { round: async () => undefined } as never;
  // No document ends its worker here.
  const refunds = { book: async () => undefined } as never;
  new BillingWorkerModule(
    work,
    commands,
    fence,
    idle,
    reconciliation,
    refunds,
    new Settlements(books, testBooks, log),
    CONFIG,
    log as never,
  ).onModuleInit();
  const sweep = new KeySweep(queries, readings, pool, ABANDONED_AFTER_MS);
  const testSweep = new TestReadingSweep(commands, readings, pool, time, CONFIG);
  new ReadingsWorkerModule(
    work,
    generate,
    timers,
    // Nobody orders batches here.
    idle,
    sweep,
    testSweep,
    documentPublisher,
    CONFIG,
    pool,
    log as never,
  ).onModuleInit();
  new PublishingWorkerModule(work, commands, publish, pdf, pool, log as never).onModuleInit();
  work.addConsumer(fanOutConsumer(0));
  const loops = work.loops.filter(({ name }) => LOOPS.includes(name));
  if (loops.length !== LOOPS.length)
    throw new TypeError(`The worker lacks one of the loops ${LOOPS.join(', ')}`);
  return Object.assign(work, { loops });
};
