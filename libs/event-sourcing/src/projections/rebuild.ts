import type { PoolClient } from 'pg';
import { batches } from './batches.js';
import { advance, findCheckpoint, holdCheckpoint, transaction } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { describe, isDependencyAway } from '../store/errors.js';
import { handleBatch } from './handle-batch.js';
import { ParkedKeys } from './parked-streams.js';
import { checkpointOf, versionConsumer, versionName, type Projection } from './projection.js';
import type { EventStore } from '../store/event-store.js';
import { eventsUpTo } from '../store/events-up-to.js';
import {
  Refused,
  beginVersion,
  oneAtATime,
  requireStillBuilding,
  type Version,
  type Workshop,
} from './versions.js';

/** Called after each batch. `fraction` is the part of the log that was read, by position, from 0 to 1. */
export type RebuildProgress = (done: { events: number; fraction: number }) => void;

export interface RebuildOptions {
  readonly onProgress?: RebuildProgress;
  readonly signal?: AbortSignal;
  /** Events written in one transaction, at most. Default 2,000. */
  readonly batchSize?: number;
}

const BATCH = 2_000;
/** How long a batch may take to fill: in full batches an event costs the database half as much. */
const FULL_WITHIN_MS = 500;
/** The live view advances while a version catches up with it. After this many rounds, few events remain. */
const ROUNDS = 5;
/** Events that a version may still lack when the live view is paused for it, at most. */
const FEW = 2_000;

/**
 * Builds another version of a projection's tables from the log, up to the live view's position. The live view keeps
 * running. Resumes an interrupted rebuild: each batch commits with its checkpoint.
 * @returns the version and the number of events handled
 * @throws Refused when it cannot continue, or when another rebuild is running
 */
export const rebuild = async (
  workshop: Workshop,
  projection: Projection,
  options: RebuildOptions = {},
): Promise<{ version: number; events: number }> => {
  const release = await claim(workshop, projection);
  try {
    const version = await beginVersion(workshop, projection);
    const consumer = versionConsumer(projection, version);
    let events = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const target = await liveOrHead(workshop, projection);
      if (target === null) break;
      const handled = await catchUp(workshop, consumer, target, {
        ...options,
        onProgress: (done) => options.onProgress?.({ ...done, events: events + done.events }),
      });
      events += handled;
      if (options.signal?.aborted || handled <= FEW) break;
    }
    for (const { table } of projection.views)
      await workshop.pool.query(`analyze ${versionName(table, version)}`);
    return { version, events };
  } finally {
    await release();
  }
};

/**
 * Pauses the live view, catches the version up to the same position, and runs the work. Writers of the live view wait;
 * readers do not. Waits for other operators before it pauses the live view, never after.
 * @throws Refused when the version is no longer being built, is too far behind or is ahead of the live view, or when the
 *   live view has not handled any event
 */
export const atEqualPosition = async <T>(
  workshop: Workshop,
  projection: Projection,
  building: Version,
  work: (client: PoolClient, position: bigint) => Promise<T>,
): Promise<T> => {
  const { version } = building;
  const consumer = versionConsumer(projection, version);
  const live = checkpointOf(projection);
  return transaction(workshop.pool, async (client) => {
    await oneAtATime(client, projection);
    await requireStillBuilding(client, projection, building);
    const held = await holdCheckpoint(client, live);
    if (held === null || held.position === null)
      throw new Refused([`${live} has not handled any event yet. Is a worker running?`]);
    const own = (await findCheckpoint(workshop.pool, consumer.name))?.position ?? null;
    if (own !== null && own > held.position)
      throw new Refused([
        `${live} is still behind version ${version} of ${projection.name}: wait for its worker.`,
      ]);
    const behind = await countEvents(workshop.store, consumer, own, held.position, FEW + 1);
    if (behind > FEW)
      throw new Refused([
        `Version ${version} of ${projection.name} is more than ${FEW} events behind: resume its rebuild.`,
      ]);
    await catchUp(workshop, consumer, held.position, {});
    return work(client, held.position);
  });
};

/**
 * Handles the consumer's events up to a position. Reads ahead while a batch is written.
 * @returns the number of events handled
 */
const catchUp = async (
  workshop: Workshop,
  consumer: Consumer,
  to: bigint,
  { onProgress, signal, batchSize = BATCH }: RebuildOptions,
): Promise<number> => {
  const { store, pool, log } = workshop;
  const { categories } = consumer;
  // Never created here: a new checkpoint would not account for the rows that the version already has.
  let checkpoint = await findCheckpoint(pool, consumer.name);
  if (checkpoint === null)
    throw new Refused([
      `${consumer.name} has no checkpoint: its version is missing or damaged. Drop it and rebuild.`,
    ]);
  const start = checkpoint.position ?? 0n;
  if (checkpoint.position !== null && start >= to) return 0;
  const parked = await ParkedKeys.load(pool, consumer);
  const ended = signal ?? new AbortController().signal;
  let events = 0;
  const source = batches(eventsUpTo(store, { categories, after: checkpoint.position, to }), {
    maximum: batchSize,
    spacingMs: FULL_WITHIN_MS,
    quietMs: 1_000,
    quietPosition: () => null,
    signal: ended,
  });
  for await (const batch of source) {
    checkpoint = await handleBatch(
      consumer,
      { pool, log },
      parked,
      checkpoint,
      batch.events,
      batch.position,
      ended,
    ).catch((error: unknown) => {
      if (isDependencyAway(error)) throw error;
      throw new Refused([`${consumer.name} cannot continue: ${describe(error)}.`]);
    });
    events += batch.events.length;
    onProgress?.({ events, fraction: Number(batch.position - start) / Number(to - start) });
  }
  if (!ended.aborted && (checkpoint.position === null || checkpoint.position < to))
    await advance(pool, consumer, checkpoint, to, []);
  return events;
};

/** Counts the consumer's events between two positions, at most `most`. */
const countEvents = async (
  store: EventStore,
  { categories }: Pick<Consumer, 'categories'>,
  after: bigint | null,
  to: bigint,
  most: number,
): Promise<number> => {
  let count = 0;
  for await (const _ of eventsUpTo(store, { categories, after, to })) {
    count += 1;
    if (count >= most) break;
  }
  return count;
};

const liveOrHead = async ({ pool, store }: Workshop, projection: Projection): Promise<bigint | null> =>
  (await findCheckpoint(pool, checkpointOf(projection)))?.position ?? store.head();

/** Allows one rebuild of a projection at a time. The session lock is released when its process dies. */
const claim = async ({ pool }: Workshop, projection: Projection): Promise<() => Promise<void>> => {
  const client = await pool.connect();
  const { rows } = await client.query<{ free: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as free',
    [`rebuild of ${projection.name}`],
  );
  if (!rows[0]?.free) {
    client.release();
    throw new Refused([`Another rebuild of ${projection.name} is under way.`]);
  }
  return async () => {
    await client
      .query('select pg_advisory_unlock(hashtextextended($1, 0))', [`rebuild of ${projection.name}`])
      .catch(() => undefined);
    client.release();
  };
};
