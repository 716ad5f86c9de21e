import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { factsOf, bookEvent, isOpaque, sentenceOf, unreadableEntry } from '../audit/book-entry.js';
import { FindLedgerEntries, type FoundEntry } from '../contracts/audit.js';
import { creditsEvents, type CreditsEvent } from '../contracts/events.js';
import { visitLog } from './read.js';

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
    const visit = (stored: StoredEvent): void => {
      if (categoryOf(stored.stream) !== creditsEvents.category || !mayName(stored)) return;
      const event = bookEvent(stored);
      const { id: eventId, revision, type, metadata } = stored;
      const { occurredAt } = metadata;
      const place = { workspaceId: streamId(stored.stream), eventId, revision, type, occurredAt };
      if (isOpaque(event)) {
        const nothing = { credits: 0, reason: null, actor: '', approvedBy: null, correctionId: null };
        if (hasText(stored.data, reference))
          found.push({ ...place, ...nothing, unreadable: sentenceOf(unreadableEntry(event)) });
        return;
      }
      const { data } = event;
      const { reason, approvedBy, actor, reference: own } = factsOf(data);
      const correctionId = ('correctionId' in data && data.correctionId) || null;
      if (own !== reference && correctionId !== reference) return;
      const credits = 'credits' in data ? data.credits : 'amount' in data ? data.amount : 0;
      found.push({ ...place, credits, reason, approvedBy, correctionId, actor: actor ?? metadata.actor });
    };
    await visitLog(this.store, visit, progress);
    return found;
  }
}

/** Types that carry no reference are not decoded, unless this program does not know them. */
const mayName = ({ type }: StoredEvent): boolean =>
  REFERENCED.has(type) || !Object.hasOwn(creditsEvents.definitions, type);

/** Whether a text stands anywhere in data that cannot be interpreted. */
const hasText = (data: unknown, text: string): boolean =>
  typeof data === 'object' && data !== null
    ? Object.values(data).some((member) => hasText(member, text))
    : data === text;
