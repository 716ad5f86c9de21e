import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { balanceAsOf } from '../../audit/balance-as-of.js';
import { GetBalanceAsOf } from '../../contracts/audit.js';
import { creditsEvents } from '../../contracts/events.js';
import type { Balance } from '../../contracts/queries.js';

@QueryHandler(GetBalanceAsOf)
export class BalanceAsOfHandler implements IQueryHandler<GetBalanceAsOf> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, asOf }: GetBalanceAsOf): Promise<Balance | null> {
    return balanceAsOf(this.store.read(streamName(creditsEvents.category, workspaceId)), asOf);
  }
}
