import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { readMonth } from '../../audit/month-place.js';
import { statementOf } from '../../audit/statement.js';
import { GetMonthlyStatement, type MonthlyStatement } from '../../contracts/audit.js';
import { bookStream } from '../../contracts/events.js';
import type { Config } from '../../settings.js';

@QueryHandler(GetMonthlyStatement)
export class MonthlyStatementHandler implements IQueryHandler<GetMonthlyStatement> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, period, livemode }: GetMonthlyStatement): Promise<MonthlyStatement | null> {
    const stream = readMonth(this.store, bookStream(workspaceId, livemode), period);
    return statementOf(workspaceId, period, stream, this.config.CLOCK_REFUSE_MS);
  }
}
