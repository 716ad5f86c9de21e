import { expect, it } from '@jest/globals';
import type { StoredEvent } from '../core/event.js';
import { StoreDamaged } from '../store/errors.js';
import { addedToAppend } from '../testing/tally.js';
import type { Consumer } from './consumer.js';
import { handleBatch } from './handle-batch.js';
import { ParkedKeys } from './parked-streams.js';

/** A pool whose statements all succeed. */
const client = { query: async () => ({ rows: [], rowCount: 1 }), release: () => undefined };
const pool = { ...client, connect: async () => client } as never;
const log = { warn: () => undefined, error: () => undefined };

const stored = (stream: string, position: bigint): StoredEvent => ({
  ...addedToAppend(stream, 'ref'),
  stream,
  revision: 0n,
  position,
});

it.each([
  ['damage in the event store', new StoreDamaged('record 7 is damaged')],
  ['a right that was withdrawn', Object.assign(new Error('Access Denied'), { type: 'access-denied' })],
])('An event that fails because of %s halts its consumer and parks nothing', async (_, error) => {
  const consumer: Consumer = {
    name: 'settlement',
    categories: ['reading'],
    birth: 'beginning',
    steps: () => [],
    dispatch: () => Promise.reject(error),
  };
  const parked = new ParkedKeys();
  const events = ['reading-1', 'reading-2'].map((stream, index) => stored(stream, BigInt(index)));
  const options = { pool, log, poisonAttempts: 2 };
  const from = { position: null, epoch: 0n };
  const { signal } = new AbortController();
  await expect(handleBatch(consumer, options, parked, from, events, 2n, signal)).rejects.toBe(error);
  expect(parked.isEmpty).toBe(true);
});
