import type { Pool } from 'pg';
import type { Consumer } from './consumer.js';
import type { Statement } from './statement.js';
import { transaction } from './transaction.js';

/** Another runner of the same consumer was faster: this one's work was rolled back. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
}

const asPosition = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

/** The durable checkpoint; on the first run it is recorded at the consumer's birth position. */
export const loadCheckpoint = async (
  pool: Pool,
  consumer: Consumer,
  head: () => Promise<bigint | null>,
): Promise<bigint | null> => {
  const find = () =>
    pool.query<{ position: string | null }>('select position from event_sourcing.consumer where name = $1', [
      consumer.name,
    ]);
  const found = (await find()).rows[0];
  if (found) return asPosition(found.position);
  const birth = consumer.birth === 'now' ? await head() : null;
  await pool.query(
    'insert into event_sourcing.consumer (name, position) values ($1, $2) on conflict do nothing',
    [consumer.name, birth === null ? null : String(birth)],
  );
  return asPosition((await find()).rows[0]!.position);
};

/**
 * Moves the checkpoint from one position to the next and applies the statements, in one transaction. The move is a
 * compare-and-swap, so of two runners one wins and the other's rows never appear.
 */
export const advance = (
  pool: Pool,
  consumer: Consumer,
  from: bigint | null,
  to: bigint,
  statements: readonly Statement[],
): Promise<void> =>
  transaction(pool, async (client) => {
    const moved = await client.query(
      `update event_sourcing.consumer set position = $2, status = 'running', error = null, updated_at = now()
       where name = $1 and position is not distinct from $3::numeric`,
      [consumer.name, String(to), from === null ? null : String(from)],
    );
    if (moved.rowCount !== 1) throw new CheckpointMoved(`${consumer.name} is no longer at ${from}`);
    for (const { text, values } of statements) await client.query(text, values as unknown[]);
  });
