import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { balanceAsOf } from '../../audit/balance-as-of.js';
import { GetBalanceAsOf } from '../../contracts/audit.js';
import { bookStream } from '../../contracts/events.js';
import type { Balance } from '../../contracts/queries.js';
import type { Config } from '../../settings.js';

@QueryHandler(GetBalanceAsOf)
export class BalanceAsOfHandler implements IQueryHandler<GetBalanceAsOf> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, asOf, livemode }: GetBalanceAsOf): Promise<Balance | null> {
    const stream = this.store.read(bookStream(workspaceId, livemode));
    return balanceAsOf(stream, asOf, this.config.CLOCK_REFUSE_MS);
  }
}
