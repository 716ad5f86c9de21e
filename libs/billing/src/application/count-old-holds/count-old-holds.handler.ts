import type pg from 'pg';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import { CountOldHolds } from '../../contracts/queries.js';

@QueryHandler(CountOldHolds)
export class CountOldHoldsHandler implements IQueryHandler<CountOldHolds> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ olderThanMs }: CountOldHolds): Promise<number> {
    const { rows } = await this.pool.query<{ holds: number }>(
      'select count(*)::int as holds from billing.hold where reserved_at < $1',
      [instant(this.clock.now() - olderThanMs)],
    );
    return rows[0]!.holds;
  }
}
