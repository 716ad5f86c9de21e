import { describe, expect, it } from '@jest/globals';
import { transaction } from '#platform/postgres/pool.js';
import { CheckpointMoved, advance, intervene, loadCheckpoint } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { sql } from './statement.js';
import { consumersUnderTest, recording } from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();
const { appliedIds } = consumers;

describe('a checkpoint', () => {
  const name = 'tally.checkpoint';
  const at = (position: bigint | null) => ({ position, epoch: 0n });
  const consumer: Consumer = { ...recording, name };

  it('keeps positions that no double can hold', async () => {
    const positions = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n];
    let from = await loadCheckpoint(consumers.pool, consumer, async () => null);
    expect(from).toEqual(at(null));
    for (const position of positions) {
      await advance(consumers.pool, consumer, from, position, []);
      from = await loadCheckpoint(consumers.pool, consumer, async () => null);
      expect(from.position).toBe(position);
    }
    // A neighbour that a double would take for the same.
    await advance(consumers.pool, consumer, from, 2n ** 53n, []);
    await expect(advance(consumers.pool, consumer, at(2n ** 53n + 1n), 1n, [])).rejects.toThrow(
      CheckpointMoved,
    );
  });

  it('moves with the rows or not at all', async () => {
    await loadCheckpoint(consumers.pool, consumer, async () => null);
    const insert = sql`insert into applied (event_id) values ('x')`;
    await expect(
      advance(consumers.pool, consumer, at(null), 1n, [insert, sql`select 1 / 0`]),
    ).rejects.toThrow('division by zero');
    await expect(advance(consumers.pool, consumer, at(7n), 8n, [insert])).rejects.toThrow(CheckpointMoved);
    expect(await appliedIds()).toEqual([]);
    expect(await loadCheckpoint(consumers.pool, consumer, async () => null)).toEqual(at(null));
    await advance(consumers.pool, consumer, at(null), 1n, [insert]);
    expect(await appliedIds()).toEqual(['x']);
  });

  it('is given up by its runner when an operator intervened', async () => {
    const before = await loadCheckpoint(consumers.pool, consumer, async () => null);
    await transaction(consumers.pool, (client) => intervene(client, name));
    await expect(advance(consumers.pool, consumer, before, 1n, [])).rejects.toThrow(CheckpointMoved);
    const after = await loadCheckpoint(consumers.pool, consumer, async () => null);
    await advance(consumers.pool, consumer, after, 1n, []);
  });
});
