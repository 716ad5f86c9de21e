import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { planDateRepair } from '../../audit/plan-date-repair.js';
import { PlanDateRepair, type DateRepair } from '../../contracts/date-repair.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';
import type { Config } from '../../settings.js';

@QueryHandler(PlanDateRepair)
export class PlanDateRepairHandler implements IQueryHandler<PlanDateRepair> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  /** @throws CorruptEvent for an entry that cannot be read and is not quarantined: the book is not known */
  async execute({ workspaceId }: PlanDateRepair): Promise<DateRepair | null> {
    const now = await this.clock.now();
    const events: Recorded<CreditsEvent>[] = [];
    let quarantined = 0;
    for await (const stored of this.store.read(streamName(creditsEvents.category, workspaceId)))
      if (isSetAside(stored)) quarantined += 1;
      else events.push(decode(creditsEvents, stored));
    if (events.length === 0) return null;
    const plan = planDateRepair(workspaceId, events, now, this.config.CLOCK_REFUSE_MS);
    if (quarantined === 0) return plan;
    return { ...plan, notes: [...plan.notes, `${quarantined} quarantined entries were passed over`] };
  }
}
