import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { QueryBus } from '@nestjs/cqrs';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { testPool } from '../../../../test/support/test-pool.js';
import { contextAt, requestReading } from '../../test/readings.js';
import type { GetOpenHolds } from '../contracts/ports.js';
import { reservationIdAt } from './request-reading.js';
import { createReadingExecutor } from '../executors.js';
import { KeySweep } from './sweep-keys.js';

const never = new AbortController().signal;
const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const pool = testPool();
const keys = new SubjectKeys(pool, new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
let executor: ReturnType<typeof createReadingExecutor>;
let openHolds: string[];
/** Whether the books of the workspace can be read. */
let readable: (query: GetOpenHolds) => boolean;
/** Runs while the sweep queries the holds. */
let meanwhile: () => Promise<void>;

beforeEach(async () => {
  await pool.query('truncate platform.subject_key');
  executor = createReadingExecutor(new InMemoryEventStore());
  openHolds = [];
  readable = () => true;
  meanwhile = () => Promise.resolve();
});

const sweep = (): Promise<void> => {
  const queries = {
    execute: async (query: GetOpenHolds) => {
      await meanwhile();
      return readable(query) ? openHolds : null;
    },
  };
  return new KeySweep(queries as unknown as QueryBus, executor, pool).sweep(never);
};
const make = async (id: string = randomUUID()): Promise<string> => {
  await keys.create(id, 'ws_1');
  return id;
};
const age = () => pool.query(`update platform.subject_key set created_at = created_at - interval '2 hours'`);
const left = async () =>
  (await pool.query<{ id: string }>('select subject_id as id from platform.subject_key order by 1')).rows.map(
    ({ id }) => id,
  );
const record = (readingId: string) =>
  requestReading(executor, readingId, NOW, { reservationId: reservationIdAt(readingId, 'no_stream') });
const abandon = (readingId: string) =>
  executor.execute(
    readingId,
    {
      type: 'AbandonReading',
      workspaceId: 'ws_1',
      reservationId: reservationIdAt(readingId, 'no_stream'),
      livemode: true,
      reason: 'late',
    },
    contextAt(NOW, 'abandon'),
  );

describe('KeySweep', () => {
  it('deletes old keys whose requests never became readings, and no others', async () => {
    const [abandoned, neverHeld, recorded] = [await make(), await make(), await make()];
    await abandon(abandoned);
    await record(recorded);
    await age();
    const young = await make();
    await sweep();
    expect(await left()).toEqual([recorded, young].toSorted());
    expect(await keys.find(neverHeld)).toBeNull();
  });

  it('keeps a key that an open hold can still use, and checks it again later', async () => {
    const waiting = await make();
    const again = await make();
    await abandon(again);
    openHolds = [reservationIdAt(waiting, 'no_stream'), reservationIdAt(again, 0n)];
    await age();
    await sweep();
    expect(await left()).toEqual([waiting, again].toSorted());
    openHolds = [];
    await sweep();
    expect(await left()).toEqual([]);
  });

  it('keeps the keys of a workspace with a book that cannot be read, until it can, and sweeps the others', async () => {
    const unclear = await make();
    const other = randomUUID();
    await keys.create(other, 'ws_2');
    await age();
    readable = ({ workspaceId }) => workspaceId === 'ws_2';
    await sweep();
    expect(await left()).toEqual([unclear]);
    readable = () => true;
    await sweep();
    expect(await left()).toEqual([]);
  });

  it('keeps a key that a request found meanwhile', async () => {
    const readingId = await make();
    await age();
    meanwhile = async () => void (await make(readingId));
    await sweep();
    expect(await left()).toEqual([readingId]);
  });

  it('keeps the key of a reading that is requested, completed and settled while it queries holds', async () => {
    const readingId = await make();
    await age();
    meanwhile = async () => void (await record(readingId));
    await sweep();
    expect(await left()).toEqual([readingId]);
  });
});
