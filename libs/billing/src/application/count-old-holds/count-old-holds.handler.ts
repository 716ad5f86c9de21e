import type pg from 'pg';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CountOldHolds } from '../../contracts/queries.js';

@QueryHandler(CountOldHolds)
export class CountOldHoldsHandler implements IQueryHandler<CountOldHolds> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** By PostgreSQL's clock, which every process shares. */
  async execute({ olderThanMs }: CountOldHolds): Promise<number> {
    const { rows } = await this.pool.query<{ holds: number }>(
      'select count(*)::int as holds from billing.hold where reserved_at < now() - make_interval(secs => $1)',
      [olderThanMs / 1_000],
    );
    return rows[0]!.holds;
  }
}
