import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import {
  FindExpiringGrants,
  FindLowBalances,
  type ExpiringGrant,
  type FoundPage,
  type LowBalance,
} from '../../contracts/queries.js';

/** Books read at once. */
const PAGE = 500;

@QueryHandler(FindLowBalances)
export class FindLowBalancesHandler implements IQueryHandler<FindLowBalances> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ percent, after }: FindLowBalances): Promise<FoundPage<LowBalance>> {
    const { rows } = await this.pool.query<{
      workspace_id: string;
      available: string;
      topped_up_to: string;
      topped_up_by: string;
    }>(
      `select workspace_id, available, topped_up_to, topped_up_by from billing.balance
       where mode = 'live' and workspace_id > $2 and available * 100 < topped_up_to * $1 order by workspace_id limit ${PAGE}`,
      [percent, after],
    );
    const found = rows.map((row) => ({
      workspaceId: row.workspace_id,
      available: Number(row.available),
      toppedUpTo: Number(row.topped_up_to),
      toppedUpBy: row.topped_up_by,
    }));
    return { found, next: found.length < PAGE ? null : found.at(-1)!.workspaceId };
  }
}

@QueryHandler(FindExpiringGrants)
export class FindExpiringGrantsHandler implements IQueryHandler<FindExpiringGrants> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** A book is due at its next expiry, or before. So the index leaves few books to look into. */
  async execute({ from, until, after }: FindExpiringGrants): Promise<FoundPage<ExpiringGrant>> {
    const { rows } = await this.pool.query<{ workspace_id: string; grants: ExpiringGrant[] }>(
      `select book.workspace_id,
              (select coalesce(json_agg(json_build_object(
                        'workspaceId', book.workspace_id, 'grantId', one ->> 'grantId',
                        'remaining', (one ->> 'remaining')::integer, 'expiresAt', one ->> 'expiresAt')), '[]')
               from jsonb_array_elements(book.agenda -> 'grants') one
               where (one ->> 'remaining')::integer > 0 and (one ->> 'expiresAt')::timestamptz > $1 and (one ->> 'expiresAt')::timestamptz <= $2
              ) as grants
       from (
         select workspace_id, agenda from billing.balance
         where mode = 'live' and workspace_id > $3 and due_at <= $2
         order by workspace_id limit ${PAGE}
       ) book order by book.workspace_id`,
      [from, until, after],
    );
    const next = rows.length < PAGE ? null : rows.at(-1)!.workspace_id;
    return { found: rows.flatMap(({ grants }) => grants), next };
  }
}
