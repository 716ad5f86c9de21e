import type { Pool } from 'pg';
import { Digester } from '@app/platform/crypto/digest.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { BATCH_EXECUTOR, type BatchExecutor } from '../../batch.executor.js';
import { batchIdOf, batchReadingId } from '../../batch-reading-id.js';
import type { ReadingStatus } from '../../contracts/queries.js';
import type { BatchRecord } from '../../domain/batch/batch.decider.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A batch, and how many of its readings are in each state. */
export interface BatchCounts {
  readonly batch: BatchRecord;
  readonly readings: Readonly<Record<ReadingStatus, number>>;
}

/** Needs no projection: the ids of the readings derive from the id of the batch. */
@Injectable()
export class BatchQuery {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(BATCH_EXECUTOR) private readonly batches: BatchExecutor,
    private readonly digester: Digester,
  ) {}

  /** Whether a request with this Idempotency-Key was recorded. */
  async isRequested(workspaceId: string, livemode: boolean, idempotencyKey: string): Promise<boolean> {
    const batchId = batchIdOf(this.digester, workspaceId, livemode, idempotencyKey);
    return (await this.batches.load(batchId)).state !== null;
  }

  async find(batchId: string): Promise<BatchCounts | null> {
    const batch = UUID.test(batchId) ? (await this.batches.load(batchId)).state : null;
    if (batch === null) return null;
    const refused = new Set(batch.refused);
    const accepted = Array.from({ length: batch.items }, (_, index) => index).filter(
      (index) => !refused.has(index),
    );
    const { rows } = await this.pool.query<{ status: ReadingStatus; count: number }>({
      name: 'readings-of-batch',
      text: `select status, count(*)::int from readings.reading where reading_id = any($1::uuid[]) group by status`,
      values: [accepted.map((index) => batchReadingId(this.digester, batchId, index))],
    });
    const counted = { queued: 0, processing: 0, completed: 0, failed: 0 };
    for (const { status, count } of rows) counted[status] = count;
    const { processing, completed, failed } = counted;
    // A reading that has no row yet is queued.
    const queued = accepted.length - processing - completed - failed;
    return { batch, readings: { ...counted, queued } };
  }
}
