import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { categoryOf, streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { VerifyLedger, type LedgerReport } from '../../contracts/audit.js';
import { creditsEvents } from '../../contracts/events.js';
import { inBatches, readLog, readStream } from './read.js';

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, progress }: VerifyLedger): Promise<readonly LedgerReport[]> {
    const { category } = creditsEvents;
    const events =
      workspaceId === null
        ? readLog(this.store, progress)
        : readStream(this.store, streamName(category, workspaceId), progress);
    const books = new Map<string, BookVerifier>();
    for await (const batch of inBatches(events)) {
      for (const event of batch) {
        if (categoryOf(event.stream) !== category) continue;
        const book = books.get(event.stream) ?? new BookVerifier(event.stream);
        books.set(event.stream, book);
        book.see(event);
      }
    }
    return [...books.values()].map((book) => book.report());
  }
}
