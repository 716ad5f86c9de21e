import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { planDateRepair } from '../../audit/plan-date-repair.js';
import { withoutProposed } from '../../audit/date-repair-parts.js';
import { isContradicted } from '../../audit/record-time.js';
import { PlanDateRepair, type DateRepair } from '../../contracts/date-repair.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import type { Config } from '../../settings.js';
import { CorrectionBooks } from '../corrections/correction-books.js';
import { signedCorrections } from '../corrections/signed-corrections.js';

const DAY_MS = 86_400_000;

@QueryHandler(PlanDateRepair)
export class PlanDateRepairHandler implements IQueryHandler<PlanDateRepair> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'CORRECTION_MAX_CREDITS'>,
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
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
    const { CLOCK_REFUSE_MS, CORRECTION_MAX_CREDITS } = this.config;
    const plan = planDateRepair(workspaceId, events, now, CLOCK_REFUSE_MS);
    const proposed = plan.adjustments.length === 0 ? [] : await this.repairsOf(workspaceId, events, now);
    const { notes, ...repair } = withoutProposed(plan, proposed, CORRECTION_MAX_CREDITS);
    const passedOver = quarantined === 0 ? [] : [`${quarantined} quarantined entries were passed over`];
    return { ...repair, notes: [...notes, ...passedOver] };
  }

  /** All corrections of its dates since the damage: none was proposed before. */
  private async repairsOf(workspaceId: string, events: readonly Recorded<CreditsEvent>[], now: number) {
    const damaged = events.filter((event) => isContradicted(event, this.config.CLOCK_REFUSE_MS));
    const since = damaged.reduce((first, { recordedAt }) => Math.min(first, recordedAt!), now);
    const days = Math.ceil((now - since) / DAY_MS) + 2;
    return signedCorrections(
      this.executors,
      this.books,
      days,
      now,
      ({ kind, entries }) =>
        kind === 'date_repair' && entries.some((entry) => entry.workspaceId === workspaceId),
    );
  }
}
