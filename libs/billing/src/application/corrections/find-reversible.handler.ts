import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { FindReversible, type ReversibleEntry } from '../../contracts/corrections.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';
import { learn, nothingKnown } from '../../domain/credits/reversals.js';
import { readStream } from '../audit/read.js';
import { CreditBooks } from '../credit-books.js';

@QueryHandler(FindReversible)
export class FindReversibleHandler implements IQueryHandler<FindReversible> {
  constructor(
    private readonly books: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ workspaceId, entry }: FindReversible): Promise<ReversibleEntry | null> {
    const book = await this.books.current(workspaceId);
    if (!book) return null;
    let found: Recorded<CreditsEvent> | null = null;
    let known = nothingKnown;
    for await (const stored of readStream(this.store, streamName(creditsEvents.category, workspaceId))) {
      if (isSetAside(stored)) continue;
      const event = decode(creditsEvents, stored);
      if (isMeant(event, entry)) found = event;
      known = learn(known, event, new Set(found ? [found.id] : []));
    }
    if (!found) return null;
    const { reversible, reversed, grantId } = known.originals[found.id]!;
    const left = book.grants.find((one) => one.grantId === grantId);
    return {
      eventId: found.id,
      type: found.type,
      reversible,
      reversed,
      grant:
        grantId === null
          ? null
          : {
              grantId,
              credits: Math.abs(reversible),
              unused: left?.remaining ?? 0,
              held: left?.held ?? 0,
            },
    };
  }
}

const isMeant = ({ id, type, data }: Recorded<CreditsEvent>, entry: FindReversible['entry']): boolean => {
  if ('eventId' in entry) return id === entry.eventId;
  return 'readingId' in entry
    ? type === 'CreditsCaptured' && data.readingId === entry.readingId
    : type === 'PackPurchased' && data.orderRef === entry.orderRef && data.pack === entry.pack;
};
