import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { referenceOf } from '../../audit/export-rows.js';
import { FindLedgerEntries, type FoundEntry } from '../../contracts/audit.js';
import { correctionEvents } from '../../contracts/corrections.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';
import { visitLog } from './read.js';

/** Events that carry a reference. */
const REFERENCED: ReadonlySet<string> = new Set([
  'PackPurchased',
  'CreditsAdjusted',
  'SubscriptionStarted',
  'SubscriptionChanged',
  'SubscriptionCancelled',
] satisfies CreditsEvent['type'][]);

@QueryHandler(FindLedgerEntries)
export class FindEntriesHandler implements IQueryHandler<FindLedgerEntries> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ reference, progress }: FindLedgerEntries): Promise<readonly FoundEntry[]> {
    const found: FoundEntry[] = [];
    const corrections = new Set<string>();
    const visit = (stored: StoredEvent): void => {
      if (stored.type === 'CorrectionProposed' && categoryOf(stored.stream) === correctionEvents.category) {
        const proposed = decode(correctionEvents, stored);
        if ('reference' in proposed.data && proposed.data.reference === reference)
          corrections.add(proposed.data.correctionId);
        return;
      }
      if (!REFERENCED.has(stored.type) || categoryOf(stored.stream) !== creditsEvents.category) return;
      const event = decode(creditsEvents, stored);
      const { data } = event;
      const workspaceId = streamId(event.stream);
      const isOfCorrection = 'correctionId' in data && corrections.has(data.correctionId ?? '');
      if (!isOfCorrection && !matches(data, workspaceId, reference)) return;
      found.push({
        workspaceId,
        eventId: event.id,
        revision: event.revision,
        type: event.type,
        occurredAt: event.metadata.occurredAt,
        credits: 'credits' in data ? data.credits : 'amount' in data ? data.amount : 0,
        reason: 'reason' in data ? data.reason : null,
        actor: 'actor' in data && data.actor !== null ? data.actor : event.metadata.actor,
      });
    };
    await visitLog(this.store, visit, progress);
    return found;
  }
}

/** Corrections of version 1 do not state their reference, but their id is made of it. */
const matches = (data: CreditsEvent['data'], workspaceId: string, reference: string): boolean =>
  referenceOf(data) === reference ||
  ('adjustmentId' in data && data.adjustmentId === uuid5(workspaceId, 'adjustment', reference));
