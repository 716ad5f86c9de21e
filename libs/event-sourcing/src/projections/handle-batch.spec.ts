import { describe, expect, it } from '@jest/globals';
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

/** Handles events; those of `bad` streams fail. @returns the attempts for each stream, and what is parked afterwards */
const handle = async (bad: Readonly<Record<string, Error>>, streams: readonly string[]) => {
  const attempts: Record<string, number> = {};
  const consumer: Consumer = {
    name: 'settlement',
    categories: ['reading'],
    birth: 'beginning',
    steps: () => [],
    async dispatch(events) {
      for (const { stream } of events) {
        if (events.length === 1) attempts[stream] = (attempts[stream] ?? 0) + 1;
        if (bad[stream]) throw bad[stream];
      }
    },
  };
  const parked = new ParkedKeys();
  const events = streams.map((stream, index) => stored(stream, BigInt(index)));
  const from = { position: null, epoch: 0n };
  const handled = handleBatch(
    consumer,
    { pool, log, poisonAttempts: 2 },
    parked,
    from,
    events,
    BigInt(streams.length),
    new AbortController().signal,
  );
  const failed: unknown = await handled.then(
    () => null,
    (error: unknown) => error,
  );
  return { attempts, failed, parked: streams.filter((stream) => parked.has(stream.split('-')[1]!)) };
};

describe('an event that fails', () => {
  it.each([
    ['damage in the event store', new StoreDamaged('record 7 is damaged')],
    ['a right that was withdrawn', Object.assign(new Error('Access Denied'), { type: 'access-denied' })],
  ])('because of %s halts its consumer and parks nothing', async (_, error) => {
    const { failed, parked } = await handle({ 'reading-1': error }, ['reading-1', 'reading-2']);
    expect([failed, parked]).toEqual([error, []]);
  });
});
