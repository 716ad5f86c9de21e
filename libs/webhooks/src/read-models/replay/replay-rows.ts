import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { isUuid } from '#platform/text/uuid.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import { ALL_DELIVERIES } from '../delivery/settled-sql.js';
import { GetReplay, type ReplayableStatus, type ReplayRecord } from '../../contracts/replay.js';

interface Columns {
  readonly replay_id: string;
  readonly endpoint_id: string;
  readonly since: Date;
  readonly until: Date;
  readonly types: PublicEventType[];
  readonly statuses: ReplayableStatus[];
  readonly modes: Mode[];
  readonly dry_run: boolean;
  readonly state: ReplayRecord['state'];
  readonly events: number;
  readonly progress: number;
  readonly deliveries: Partial<ReplayRecord['deliveries']>;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

const SELECT = `
  select replay.*,
         (case when state in ('finished', 'stopped') then 1
               else coalesce(position / greatest(last_position, 1), 0) end)::float8 as progress,
         (select coalesce(json_object_agg(status, count), '{}')
          from (select status, count(*)::integer from ${ALL_DELIVERIES} where delivery.replay_id = replay.replay_id
                group by status) counted) as deliveries
  from webhooks.replay`;

const NONE = { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 };

/** Reads replays. */
@Injectable()
export class ReplayRows {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** A replay of this endpoint, or `null`, also for a replay of another endpoint. */
  async find(endpointId: string, replayId: string): Promise<ReplayRecord | null> {
    if (!isUuid(replayId)) return null;
    return this.first('where replay_id = $1 and endpoint_id = $2', [replayId, endpointId]);
  }

  findByKey(endpointId: string, idempotencyKey: string): Promise<ReplayRecord | null> {
    return this.first('where idempotency_key = $1 and endpoint_id = $2', [idempotencyKey, endpointId]);
  }

  private async first(where: string, values: readonly string[]): Promise<ReplayRecord | null> {
    const { rows } = await this.pool.query<Columns>(`${SELECT} ${where}`, [...values]);
    return rows[0] ? fromColumns(rows[0]) : null;
  }
}

@QueryHandler(GetReplay)
export class GetReplayHandler implements IQueryHandler<GetReplay> {
  constructor(private readonly rows: ReplayRows) {}

  execute({ endpointId, replayId }: GetReplay): Promise<ReplayRecord | null> {
    return this.rows.find(endpointId, replayId);
  }
}

const fromColumns = (row: Columns): ReplayRecord => ({
  replayId: row.replay_id,
  endpointId: row.endpoint_id,
  since: row.since.toISOString(),
  until: row.until.toISOString(),
  types: row.types,
  statuses: row.statuses,
  modes: row.modes,
  dryRun: row.dry_run,
  state: row.state,
  events: row.events,
  progress: row.progress,
  deliveries: { ...NONE, ...row.deliveries },
  createdAt: row.created_at.toISOString(),
  finishedAt: row.finished_at?.toISOString() ?? null,
});
