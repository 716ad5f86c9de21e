import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { instant } from '#event-sourcing/core/clock.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { Digester } from '#platform/crypto/digest.js';
import { addJob } from '#platform/jobs/job.js';
import { testPool } from '../../../../test/support/test-pool.js';
import { contextAt, insertReading, requestReading } from '../../test/readings.js';
import { BatchQuery, batchReadingId, FindOpenBatchesHandler } from '../read-models/batch.query.js';
import { createBatchExecutor, createReadingExecutor } from '../executors.js';
import { FindOpenBatches } from '../contracts/messages.js';
import { END_BATCH, EndBatchJob, UNWATCHED_BATCHES, endBatchJobAgain } from './end-batch.js';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const TIMEOUT_MS = 86_400_000;
const digester = new Digester('c2VjcmV0');

const pool = testPool();
let store: InMemoryEventStore;
let batchId: string;

beforeEach(async () => {
  await pool.query('truncate readings.reading, readings.batch, graphile_worker._private_jobs');
  store = new InMemoryEventStore();
  batchId = randomUUID();
});

const request = (items: number, refused: number[] = []) =>
  createBatchExecutor(store).execute(
    batchId,
    {
      type: 'RequestBatch',
      batch: { workspaceId: 'ws_1', livemode: true, mode: 'available', items, refused, invalid: refused },
    },
    contextAt(NOW),
  );

/** The row of one of its readings. */
const row = (
  index: number,
  status: 'processing' | 'completed' | 'failed',
  { version = null, erased = false }: { version?: number | null; erased?: boolean } = {},
) =>
  insertReading(pool, {
    reading_id: batchReadingId(digester, batchId, index),
    status,
    document_version: version,
    erased_at: erased ? new Date() : null,
  });

/** A worker looks at the batch, this long after its request. */
const look = (afterMs = 0): Promise<void> => {
  const batches = createBatchExecutor(store);
  const clock = { now: async () => NOW + afterMs };
  const config = { READING_TIMEOUT_MS: TIMEOUT_MS };
  const query = new BatchQuery(pool, batches, digester);
  const job = new EndBatchJob(query, batches, createReadingExecutor(store), store, clock, config);
  return job.run({ batchId, workspaceId: 'ws_1', correlationId: 'req_1', causationId: 'event' });
};

const ended = () => store.log.filter(({ type }) => type === 'BatchEnded').map(({ data }) => data);

describe('A batch', () => {
  it('ends once each accepted reading is published, failed or erased', async () => {
    await request(4, [1]);
    await row(0, 'completed', { version: 1 });
    await row(2, 'failed');
    await expect(look(20_000)).rejects.toMatchObject({ name: 'NotDueYet', remainingMs: 2_000 });
    await row(3, 'processing');
    await expect(look()).rejects.toMatchObject({ name: 'NotDueYet', remainingMs: 1_000 });
    await row(3, 'completed');
    await expect(look()).rejects.toMatchObject({ name: 'NotDueYet' });
    await row(3, 'completed', { version: 2, erased: true });
    await look(30_000);
    await look(30_000);
    expect(ended()).toEqual([
      {
        workspaceId: 'ws_1',
        livemode: true,
        items: 4,
        refused: 1,
        published: 1,
        failed: 1,
        erased: 1,
        notAccepted: 0,
        endedAt: instant(NOW + 30_000),
      },
    ]);
  });

  it('gives up what nobody asked for again, with the readings that time out', async () => {
    await request(2);
    await row(0, 'completed', { version: 1 });
    await expect(look(TIMEOUT_MS - 1)).rejects.toMatchObject({ name: 'NotDueYet', remainingMs: 3_600_000 });
    await look(TIMEOUT_MS);
    expect(ended()).toMatchObject([{ published: 1, notAccepted: 1 }]);
    const shown = await new BatchQuery(pool, createBatchExecutor(store), digester).find(batchId);
    expect(shown!.readings).toEqual({ queued: 0, processing: 0, completed: 1, failed: 0 });
  });

  it('waits for a reading whose row is missing, because its stream says that it was accepted', async () => {
    await request(1);
    await requestReading(createReadingExecutor(store), batchReadingId(digester, batchId, 0), NOW);
    await expect(look(TIMEOUT_MS)).rejects.toMatchObject({ name: 'NotDueYet' });
  });
});

describe('The rescue', () => {
  const open = (ageSeconds: number, endedAt: Date | null = null) =>
    pool.query(
      `insert into readings.batch values ($1, 'ws_1', true, 1, now() - make_interval(secs => $2), $3, 'req_1')`,
      [batchId, ageSeconds, endedAt],
    );
  const found = async () => (await pool.query<never>(UNWATCHED_BATCHES, [10])).rows;

  it('finds an open batch that no job looks at', async () => {
    await open(31);
    const [batch] = await found();
    const { payload, ...options } = endBatchJobAgain(batch!);
    const { text, values } = addJob(END_BATCH, payload, options);
    await pool.query(text, values as unknown[]);
    expect(await found()).toEqual([]);
    await pool.query('truncate graphile_worker._private_jobs');
    expect(await found()).toEqual([batch]);
  });

  it('is not needed for a batch that a reading keeps open: doctor says which', async () => {
    await request(3, [1]);
    await row(0, 'failed');
    await row(2, 'completed');
    await open(7_200);
    const batches = createBatchExecutor(store);
    const query = new BatchQuery(pool, batches, digester);
    const handler = new FindOpenBatchesHandler(pool, batches, query);
    expect(await handler.execute(new FindOpenBatches(7_000_000))).toEqual({
      count: 1,
      oldest: { batchId, workspaceId: 'ws_1', waitsFor: [batchReadingId(digester, batchId, 2)] },
    });
    expect(await handler.execute(new FindOpenBatches(7_300_000))).toEqual({ count: 0, oldest: null });
  });

  it('leaves new and ended batches alone', async () => {
    await open(5);
    expect(await found()).toEqual([]);
    batchId = randomUUID();
    await open(400, new Date());
    expect(await found()).toEqual([]);
  });
});
