import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { booksOf } from '../../contracts/events.js';
import { CheckHolds, type CheckedHolds, type HoldDifference } from '../../contracts/queries.js';
import { balanceProjection } from '../../read-models/balance/balance.projection.js';
import { holdProjection } from '../../read-models/hold/hold.projection.js';
import { modeOf } from '../../read-models/mode-of.js';

/** Books listed, at most. */
const MOST = 20;

const VIEWS = [balanceProjection.name, holdProjection.name];

@QueryHandler(CheckHolds)
export class CheckHoldsHandler implements IQueryHandler<CheckHolds> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** Ages are by PostgreSQL's clock, which every process shares. */
  async execute({ olderThanMs, livemode }: CheckHolds): Promise<CheckedHolds> {
    const { rows } = await this.pool.query<{ holds: number }>(
      `select count(*)::int as holds from billing.hold
       where mode = $2 and reserved_at < now() - make_interval(secs => $1)`,
      [olderThanMs / 1_000, modeOf(livemode)],
    );
    return { old: rows[0]!.holds, differences: await this.differences(livemode) };
  }

  /** Compares the two views where both have handled the same events. */
  private async differences(livemode: boolean): Promise<readonly HoldDifference[]> {
    const { rows } = await this.pool.query<{ workspace_id: string; held: string; open: string }>(
      `select workspace_id, balance.held::text, open.amount::text as open
       from billing.balance
       cross join lateral (
         select coalesce(sum(amount), 0) as amount from billing.hold
         where hold.workspace_id = balance.workspace_id and hold.mode = balance.mode) open
       where balance.mode = $4 and balance.held <> open.amount
         and (select count(*) = 2 and count(distinct position) = 1
              from event_sourcing.consumer where name = any ($1))
         and not exists (
           select from event_sourcing.parked_stream
           where consumer = any ($1) and stream = $3 || '-' || balance.workspace_id)
       order by workspace_id limit $2`,
      [VIEWS, MOST, booksOf(livemode), modeOf(livemode)],
    );
    return rows.map((row) => ({
      workspaceId: row.workspace_id,
      held: Number(row.held),
      open: Number(row.open),
    }));
  }
}
