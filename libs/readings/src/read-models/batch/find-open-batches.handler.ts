import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { BATCH_EXECUTOR, type BatchExecutor } from '../../batch.executor.js';
import { FindOpenBatches, type OpenBatches } from '../../contracts/queries.js';
import { BatchQuery } from './batch.query.js';

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
