import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { VerifyLedger, type LedgerReport } from '../../contracts/audit.js';
import { creditsEvents } from '../../contracts/events.js';
import { visitLog, visitStream } from './read.js';

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, progress }: VerifyLedger): Promise<readonly LedgerReport[]> {
    const { category } = creditsEvents;
    const books = new Map<string, BookVerifier>();
    const visit = (event: StoredEvent): void => {
      if (categoryOf(event.stream) !== category) return;
      const book = books.get(event.stream) ?? new BookVerifier(event.stream);
      books.set(event.stream, book);
      book.see(event);
    };
    if (workspaceId === null) await visitLog(this.store, visit, progress);
    else await visitStream(this.store, streamName(category, workspaceId), visit, progress);
    return [...books.values()].map((book) => book.report());
  }
}
