import { Inject, Injectable } from '@nestjs/common';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { uuidFromHash } from '#event-sourcing/core/event-id.js';
import { Digester } from '#platform/crypto/digest.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { isUuid } from '#platform/text/uuid.js';
import { FindOpenBatches, type OpenBatches, type ReadingStatus } from '../contracts/messages.js';
import type { Batch, BatchEndings, BatchRecord } from '../domain/batch.decider.js';
import { BATCH_EXECUTOR, type BatchExecutor } from '../executors.js';

/** The id of the batch that has this Idempotency-Key. Each mode has keys of its own. */
export const batchIdOf = (
  digester: Digester,
  workspaceId: string,
  livemode: boolean,
  idempotencyKey: string,
): string =>
  uuidFromHash(digester.digest(livemode ? 'batch-id' : 'test-batch-id', workspaceId, idempotencyKey));

/** The id of the reading at this index of a batch, from 0. Nobody can guess it from the id of the batch. */
export const batchReadingId = (digester: Digester, batchId: string, index: number): string =>
  uuidFromHash(digester.digest('batch-reading-id', batchId, String(index)));

/** A batch, and how many of its readings are in each state. */
interface BatchCounts {
  readonly batch: NonNullable<Batch>;
  readonly readings: Readonly<Record<ReadingStatus, number>>;
}

/** Needs no projection of batches: the ids of the readings derive from the id of the batch. */
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
    const batch = isUuid(batchId) ? (await this.batches.load(batchId)).state : null;
    if (batch === null) return null;
    const accepted = this.acceptedIds(batchId, batch);
    const { rows } = await this.pool.query<{ status: ReadingStatus; count: number }>({
      name: 'readings-of-batch',
      text: `select status, count(*)::int from readings.reading where reading_id = any($1::uuid[]) group by status`,
      values: [accepted],
    });
    const counted = { queued: 0, processing: 0, completed: 0, failed: 0 };
    for (const { status, count } of rows) counted[status] = count;
    const { processing, completed, failed } = counted;
    // A reading that has no row yet is queued. After the end of the batch, one without a row was never accepted.
    const isOver = batch.endedAt !== null;
    const queued = isOver ? counted.queued : accepted.length - processing - completed - failed;
    return { batch, readings: { ...counted, queued } };
  }

  /** How many of its readings have ended, by their rows. A state that ends a reading stays. */
  async endings(batchId: string, batch: BatchRecord): Promise<Omit<BatchEndings, 'notAccepted'>> {
    const { rows } = await this.pool.query<Omit<BatchEndings, 'notAccepted'>>({
      name: 'endings-of-batch',
      text: `
        select count(*) filter (where erased_at is null and document_version is not null)::int as published,
               count(*) filter (where erased_at is null and status = 'failed')::int as failed,
               count(*) filter (where erased_at is not null)::int as erased
        from readings.reading where reading_id = any($1::uuid[])`,
      values: [this.acceptedIds(batchId, batch)],
    });
    return rows[0]!;
  }

  /** Accepted readings that have not ended, in their order; at most 20. */
  async open(batchId: string, batch: BatchRecord): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      `select id from unnest($1::uuid[]) with ordinality as accepted (id, place)
       where not exists (select from readings.reading where reading_id = id
                           and (erased_at is not null or status = 'failed' or document_version is not null))
       order by place limit 20`,
      [this.acceptedIds(batchId, batch)],
    );
    return rows.map(({ id }) => id);
  }

  /** The accepted readings that have no row. */
  async withoutRow(batchId: string, batch: BatchRecord): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      `select id from unnest($1::uuid[]) id
       where not exists (select from readings.reading where reading_id = id)`,
      [this.acceptedIds(batchId, batch)],
    );
    return rows.map(({ id }) => id);
  }

  private acceptedIds(batchId: string, { items, refused }: BatchRecord): readonly string[] {
    const isRefused = new Set(refused);
    return Array.from({ length: items }, (_, index) => index)
      .filter((index) => !isRefused.has(index))
      .map((index) => batchReadingId(this.digester, batchId, index));
  }
}

@QueryHandler(FindOpenBatches)
export class FindOpenBatchesHandler implements IQueryHandler<FindOpenBatches> {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(BATCH_EXECUTOR) private readonly batches: BatchExecutor,
    private readonly query: BatchQuery,
  ) {}

  async execute({ olderThanMs }: FindOpenBatches): Promise<OpenBatches> {
    const { rows } = await this.pool.query<{ batch_id: string; workspace_id: string; count: number }>(
      `select batch_id, workspace_id, count(*) over ()::int as count from readings.batch
       where ended_at is null and requested_at < now() - make_interval(secs => $1)
       order by requested_at limit 1`,
      [olderThanMs / 1_000],
    );
    const [row] = rows;
    if (!row) return { count: 0, oldest: null };
    const { batch_id: batchId, workspace_id: workspaceId, count } = row;
    const { state } = await this.batches.load(batchId);
    const waitsFor = state ? await this.query.open(batchId, state) : [];
    return { count, oldest: { batchId, workspaceId, waitsFor } };
  }
}
