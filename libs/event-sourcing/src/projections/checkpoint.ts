import type { Pool, PoolClient } from 'pg';
import type { Consumer } from './consumer.js';
import { runSteps, type Step } from './statement.js';
import { transaction } from './transaction.js';

/** Where a consumer stands. The epoch changes when someone intervenes: whoever runs it then reads its state again. */
export interface Checkpoint {
  readonly position: bigint | null;
  readonly epoch: bigint;
}

/** Another runner was faster, or an operator intervened: this one's work was rolled back. */
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

/** The durable checkpoint; `null` when the consumer never ran. */
export const findCheckpoint = async (
  client: Pick<Pool, 'query'>,
  name: string,
): Promise<Checkpoint | null> => {
  const { rows } = await client.query<Row>(
    'select position, epoch from event_sourcing.consumer where name = $1',
    [name],
  );
  return rows[0] ? fromRow(rows[0]) : null;
};

/** As `findCheckpoint`, and holds the consumer where it stands until the client's transaction ends. */
export const holdCheckpoint = async (client: PoolClient, name: string): Promise<Checkpoint | null> => {
  const { rows } = await client.query<Row>(
    'select position, epoch from event_sourcing.consumer where name = $1 for update',
    [name],
  );
  return rows[0] ? fromRow(rows[0]) : null;
};

/** The durable checkpoint; on the first run it is recorded at the consumer's birth position. */
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
 * Moves the checkpoint from one position to the next and carries out the steps, in one transaction. The move is a
 * compare-and-swap, so of two runners one wins and the other's rows never appear.
 */
export const advance = (
  pool: Pool,
  consumer: Consumer,
  from: Checkpoint,
  to: bigint,
  steps: readonly Step[],
): Promise<Checkpoint> =>
  transaction(pool, async (client) => {
    const moved = await client.query(
      `update event_sourcing.consumer
       set position = $2, status = 'running', error = null, halted_stream = null, halted_position = null,
           updated_at = now()
       where name = $1 and position is not distinct from $3::numeric and epoch = $4`,
      [consumer.name, String(to), from.position === null ? null : String(from.position), String(from.epoch)],
    );
    if (moved.rowCount !== 1) throw new CheckpointMoved(`${consumer.name} is no longer at ${from.position}`);
    await runSteps(client, steps);
    return { position: to, epoch: from.epoch };
  });

/** Tells whoever runs the consumer to read its state again; part of every intervention's transaction. */
export const intervene = (client: PoolClient, name: string): Promise<unknown> =>
  client.query('update event_sourcing.consumer set epoch = epoch + 1 where name = $1', [name]);
