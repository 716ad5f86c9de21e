import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { planDateRepair } from '../../audit/plan-date-repair.js';
import { PlanDateRepair, type DateRepair } from '../../contracts/date-repair.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';

@QueryHandler(PlanDateRepair)
export class PlanDateRepairHandler implements IQueryHandler<PlanDateRepair> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async execute({ workspaceId }: PlanDateRepair): Promise<DateRepair | null> {
    const now = await this.clock.now();
    const events: Recorded<CreditsEvent>[] = [];
    for await (const stored of this.store.read(streamName(creditsEvents.category, workspaceId)))
      events.push(decode(creditsEvents, stored));
    return events.length === 0 ? null : planDateRepair(workspaceId, events, now);
  }
}
