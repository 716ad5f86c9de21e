import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { rowsOf, type SimulatedPostgres } from './postgres.js';
import { World } from './world.js';
import { createHash } from 'node:crypto';
import { CreditBooks } from '#billing/application/credit-books.js';
import { createCreditsExecutor } from '#billing/executors.js';
import { READING_COST, testBookEvents } from '#billing/contracts/index.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import {
  type InMemoryEventStore,
  InMemoryEventStore as Store,
} from '#event-sourcing/testing/in-memory-event-store.js';
import { PUBLIC_EVENT_TYPES } from '#webhooks/contracts/index.js';
import { adjustment } from '../../../../libs/billing/test/adjustment.js';
import { buy, type Customer } from './customers.js';
import { breachesOf } from './invariants.js';
import { Scheduler } from './scheduler.js';
import { within } from './stand-ins.js';

/**
 * Whether every reading has ended, every key belongs to one, every hold is settled, every consumer is caught up, and
 * nothing is on its way.
 */
const isQuiet = async ({ store, postgres, onTheWay, scheduler, consumers }: World): Promise<boolean> => {
  if (onTheWay.count > 0 || scheduler.pauses > 0) return false;
  const count = new Map<string, number>();
  const last = new Map<string, bigint>();
  const requested = new Set<string>();
  for (const { type, stream, position } of store.log) {
    count.set(type, (count.get(type) ?? 0) + 1);
    last.set(categoryOf(stream), position);
    if (type === 'ReadingRequested') requested.add(streamId(stream));
  }
  const of = (...types: readonly string[]): number =>
    types.reduce((sum, type) => sum + (count.get(type) ?? 0), 0);
  const contents = await postgres.copy();
  const reached = new Map(
    rowsOf(contents, 'event_sourcing.consumer').map(({ name, position }) => [name, position]),
  );
  return (
    rowsOf(contents, 'platform.subject_key').every(({ subject_id: id }) => requested.has(id as string)) &&
    of('ReadingRequested') === of('ReadingCompleted', 'ReadingFailed') &&
    isFollowedUp(store.log) &&
    of('CreditsReserved') === of('CreditsCaptured', 'CreditsReleased') &&
    [...consumers.values()].every(({ name, categories }) => {
      const position = BigInt((reached.get(name) as number | null | undefined) ?? 0);
      return categories.every((category) => (last.get(category) ?? 0n) <= position);
    })
  );
};

/**
 * Whether every completed reading and every requested version is published or erased, or failed to be, and every started
 * erasure is done.
 */
const isFollowedUp = (log: readonly StoredEvent[]): boolean => {
  const readings = (type: string): string[] =>
    log.filter((event) => event.type === type).map(({ stream }) => streamId(stream));
  const erased = new Set([...readings('ReadingErased'), ...readings('PublicationFailed')]);
  const published = new Set(readings('DocumentPublished'));
  const versions = (type: string): string[] =>
    log
      .filter((event) => event.type === type)
      .map(({ stream, data }) => `${streamId(stream)}|${(data as { version: number }).version}`);
  const made = new Set(versions('DocumentPublished'));
  return (
    versions('PublicationRequested').every((one) => made.has(one) || erased.has(one.split('|')[0]!)) &&
    readings('ReadingCompleted').every((id) => published.has(id) || erased.has(id)) &&
    readings('PublicationWithdrawn').every((id) => erased.has(id))
  );
};

export interface Run {
  /** One sentence for each broken invariant. */
  readonly breaches: readonly string[];
  readonly steps: number;
  /** Digest of the log. Two runs of one seed have the same. */
  readonly digest: string;
  /** All recorded events. */
  readonly log: readonly StoredEvent[];
  readonly completed: number;
  /** Test readings among them. */
  readonly testCompleted: number;
  readonly crashes: number;
  /** Calls that a cut network kept from their server, or from their caller. */
  readonly unanswered: number;
  /** How often PostgreSQL lost its last writes. */
  readonly losses: number;
  readonly trace: readonly string[];
}

const NOON = Date.parse('2026-09-29T12:00:00.000Z');
/** Ten seconds before a month is closed. */
const MONTH_END = Date.parse('2026-09-30T23:59:50.000Z');
const STEPS = 60_000;
const DAY_MS = 86_400_000;
/** Probability that a customer uses a test key. */
const TEST_MODE = 0.4;

/** Runs two APIs, two workers and some customers with faults, then without faults until all is done. */
export const simulate = async (
  postgres: SimulatedPostgres,
  seed: number,
  { traced = false } = {},
): Promise<Run> => {
  const startAt = seed % 7 === 0 ? MONTH_END : NOON;
  const scheduler = new Scheduler(seed, startAt, traced, () => postgres.settled());
  await postgres.begin(() => scheduler.now);
  return within(scheduler, async () => {
    const { random } = scheduler;
    const store = new Store(() => scheduler.now);
    const workspaces = ['ws_1', 'ws_2'].slice(0, random.between(1, 2)) as [string, ...string[]];
    const customers: Customer[] = Array.from({ length: random.between(1, 3) }, (_, index) => {
      const workspaceId = random.pick(workspaces);
      const livemode = !random.chance(TEST_MODE);
      // A test customer uses the Idempotency-Key of another customer: each mode has its own.
      const idempotencyKey = `key-${livemode ? index : 0}`;
      return { workspaceId, livemode, idempotencyKey, accepted: new Set() };
    });
    await prepare(scheduler, store, workspaces, random.between(1, customers.length));
    const world = new World(scheduler, store, postgres);
    addEndpointLater(world, random.pick(workspaces));

    let shopping = customers.length;
    for (const customer of customers) void buy(world, customer).then(() => (shopping -= 1));
    const roughUntil = scheduler.now + random.between(2_000, 40_000);
    await scheduler.until(() => shopping === 0 && scheduler.now > roughUntil, {
      steps: STEPS,
      milliseconds: 300_000,
    });
    scheduler.isRough = false;
    world.mendClocks();
    const ended = await calmDown(scheduler, async () => shopping === 0 && (await isQuiet(world)));
    const breaches = [
      ...(ended ? [] : ['the service never becomes idle']),
      ...(await breachesOf(world, customers)),
    ];
    return {
      breaches,
      steps: scheduler.steps,
      digest: digestOf(store),
      log: store.log,
      completed: store.log.filter(({ type }) => type === 'ReadingCompleted').length,
      testCompleted: store.log.filter(
        ({ type, stream }) => type === 'CreditsCaptured' && stream.startsWith(testBookEvents.category),
      ).length,
      crashes: world.crashes,
      unanswered: scheduler.unanswered,
      losses: postgres.losses,
      trace: scheduler.trace,
    };
  });
};

/** Opens a book in each workspace, with credits for the given number of readings, and adds an endpoint. */
const prepare = async (
  scheduler: Scheduler,
  store: InMemoryEventStore,
  workspaces: readonly string[],
  readings: number,
): Promise<void> => {
  scheduler.isRough = false;
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => scheduler.now });
  const by = { actor: 'operator:test', correlationId: 'setup', causationId: 'setup' };
  let isReady = false;
  const opening = async (): Promise<void> => {
    for (const workspaceId of workspaces) {
      await books.execute(workspaceId, (now) => ({ type: 'OpenBook', workspaceId, now }), 'open', by);
      const texts = { adjustmentId: 'a', reason: 'test', approvedBy: 'test', actor: by.actor };
      await books.execute(
        workspaceId,
        (now) => ({ ...adjustment({ ...texts, amount: readings * READING_COST }), now }),
        'adjust',
        by,
      );
      await addEndpoint(store, `wh_${workspaceId}`, workspaceId, scheduler.now);
    }
    isReady = true;
  };
  void opening();
  await scheduler.until(() => isReady, { steps: 1_000, milliseconds: DAY_MS });
  scheduler.isRough = true;
};

const addEndpointLater = ({ scheduler, store }: World, workspaceId: string): void => {
  scheduler.after(scheduler.random.between(0, 20_000), 'an endpoint is created', () => {
    void addEndpoint(store, 'wh_late', workspaceId, scheduler.now);
  });
};

const addEndpoint = (store: InMemoryEventStore, endpointId: string, workspaceId: string, now: number) =>
  store.append(`webhookEndpoint-${endpointId}`, 'no_stream', [
    {
      id: uuid5('6f9619ff-8b86-4d11-b42d-00c04fc964ff', endpointId),
      type: 'WebhookEndpointCreated',
      data: {
        workspaceId,
        url: 'https://example.com/',
        events: [...PUBLIC_EVENT_TYPES],
        description: null,
        modes: ['live', 'test'],
        notices: [],
        headersRef: null,
        maxPerSecond: null,
        verified: true,
        secretRef: '6f9619ff-8b86-4d11-b42d-00c04fc964ff',
      },
      metadata: {
        correlationId: 'setup',
        causationId: 'setup',
        workspaceId,
        actor: 'operator:test',
        occurredAt: new Date(now).toISOString(),
        schemaVersion: 1,
      },
    },
  ]);

/** Minutes usually suffice. After a clock was far ahead, its leases and timers end in days or in a month. */
const PATIENCE_MS = [600_000, 2 * DAY_MS, 40 * DAY_MS, 40 * DAY_MS] as const;

const calmDown = async (scheduler: Scheduler, isAtRest: () => Promise<boolean>): Promise<boolean> => {
  for (const patience of PATIENCE_MS) {
    if (patience > DAY_MS) scheduler.now += patience;
    for (let looks = 0; looks < 400; looks += 1) {
      if (await isAtRest()) {
        // Finishes work that a request left under way when it was given up.
        await scheduler.until(() => false, { steps: STEPS, milliseconds: 3_000 });
        if (await isAtRest()) return true;
      }
      const until = scheduler.now + 600_000;
      await scheduler.until(() => scheduler.now > until, { steps: 25, milliseconds: 600_000 });
    }
  }
  return false;
};

const digestOf = ({ log }: InMemoryEventStore): string => {
  const hash = createHash('sha256');
  for (const { stream, revision, type, metadata } of log)
    hash.update(`${stream}@${revision} ${type} ${metadata.occurredAt}\n`);
  return hash.digest('hex');
};
