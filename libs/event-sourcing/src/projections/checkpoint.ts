import type { Pool, PoolClient } from 'pg';
import type { StoredEvent } from '../core/event.js';
import type { Consumer } from './consumer.js';
import { runSteps, type Step } from './statement.js';

export interface TransactionOptions {
  /**
   * Longest pause between two statements (ms). After it, PostgreSQL ends the session and frees its locks, so that a
   * frozen process blocks others no longer than that. 0: unlimited.
   */
  readonly longestPauseMs?: number;
}

/** Milliseconds: as long as the lease of a job. A healthy process pauses for the answers of the event store at most. */
export const LONGEST_PAUSE_MS = 60_000;

/** Runs work in one transaction on one connection; rolls back when it throws. */
export const transaction = async <T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  { longestPauseMs = LONGEST_PAUSE_MS }: TransactionOptions = {},
): Promise<T> => {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query(`begin; set local idle_in_transaction_session_timeout = ${longestPauseMs}`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    // Destroys a connection that failed to roll back instead of returning it to the pool.
    client.release(broken);
  }
};

/** A consumer's position. An operator's intervention changes the epoch, which makes the runner reload its state. */
export interface Checkpoint {
  readonly position: bigint | null;
  readonly epoch: bigint;
}

/** Another runner moved the checkpoint first, or an operator intervened. This runner's work was rolled back. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
}

interface Row {
  position: string | null;
  epoch: string;
}

const fromRow = ({ position, epoch }: Row): Checkpoint => ({
  position: position === null ? null : BigInt(position),
  epoch: BigInt(epoch),
});

/** The stored checkpoint; `null` when the consumer never ran. */
export const findCheckpoint = async (
  client: Pick<Pool, 'query'>,
  name: string,
): Promise<Checkpoint | null> => {
  // Each consumer asks for it every few seconds, also at rest.
  const { rows } = await client.query<Row>({
    name: 'find-checkpoint',
    text: 'select position, epoch from event_sourcing.consumer where name = $1',
    values: [name],
  });
  return rows[0] ? fromRow(rows[0]) : null;
};

/**
 * Whether the stored checkpoint is before this one, or missing. Nobody moves one back: PostgreSQL has lost its last
 * writes, as after the promotion of an asynchronous standby.
 */
export const hasGoneBack = async (
  client: Pick<Pool, 'query'>,
  name: string,
  { position }: Checkpoint,
): Promise<boolean> => {
  if (position === null) return false;
  const stored = await findCheckpoint(client, name);
  return stored === null || stored.position === null || stored.position < position;
};

/** Like `findCheckpoint`, but locks the checkpoint, so that the consumer pauses until the client's transaction ends. */
export const holdCheckpoint = async (client: PoolClient, name: string): Promise<Checkpoint | null> => {
  const { rows } = await client.query<Row>(
    'select position, epoch from event_sourcing.consumer where name = $1 for update',
    [name],
  );
  return rows[0] ? fromRow(rows[0]) : null;
};

/** Loads the checkpoint. On the first run, creates it at the consumer's birth position. */
export const loadCheckpoint = async (
  pool: Pool,
  consumer: Consumer,
  head: () => Promise<bigint | null>,
): Promise<Checkpoint> => {
  const { rows } = await pool.query<Row>(
    `update event_sourcing.consumer set categories = $2 where name = $1 returning position, epoch`,
    [consumer.name, consumer.categories],
  );
  if (rows[0]) return fromRow(rows[0]);
  const birth = consumer.birth === 'now' ? await head() : null;
  await pool.query(
    'insert into event_sourcing.consumer (name, position, categories) values ($1, $2, $3) on conflict do nothing',
    [consumer.name, birth === null ? null : String(birth), consumer.categories],
  );
  return (await findCheckpoint(pool, consumer.name))!;
};

/**
 * Moves the checkpoint and runs the steps in one transaction. The move is a compare-and-swap: of two concurrent runners
 * one commits, and the other rolls back. Without steps, it is one statement.
 * @param last the last event handled; without one, the checkpoint keeps that of before
 */
export const advance = (
  pool: Pool,
  consumer: Consumer,
  from: Checkpoint,
  to: bigint,
  steps: readonly Step[],
  last?: StoredEvent,
): Promise<Checkpoint> =>
  steps.length === 0
    ? move(pool, consumer, from, to, last)
    : transaction(pool, async (client) => {
        const moved = await move(client, consumer, from, to, last);
        await runSteps(client, steps);
        return moved;
      });

const move = async (
  client: Pick<Pool, 'query'>,
  { name }: Consumer,
  { position, epoch }: Checkpoint,
  to: bigint,
  last: StoredEvent | undefined,
): Promise<Checkpoint> => {
  const moved = await client.query({
    name: 'move-checkpoint',
    text: `update event_sourcing.consumer
           set position = $2, status = 'running', error = null, halted_stream = null, halted_position = null,
               event_id = coalesce($5, event_id), event_place = coalesce($6, event_place), updated_at = now()
           where name = $1 and position is not distinct from $3::numeric and epoch = $4`,
    values: [
      name,
      String(to),
      position === null ? null : String(position),
      String(epoch),
      last?.id ?? null,
      last ? `${last.stream}@${last.revision}` : null,
    ],
  });
  if (moved.rowCount !== 1) throw new CheckpointMoved(`${name} is no longer at ${position}`);
  return { position: to, epoch };
};

/** Makes the runner reload the consumer's state. Every intervention calls this in its transaction. */
export const intervene = (client: PoolClient, name: string): Promise<unknown> =>
  client.query('update event_sourcing.consumer set epoch = epoch + 1 where name = $1', [name]);
