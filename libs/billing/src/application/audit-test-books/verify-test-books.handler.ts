import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { TestBookVerifier } from '../../audit/verify-test-book.js';
import type { LedgerReport } from '../../contracts/audit.js';
import { testBookEvents } from '../../contracts/test-book.js';
import { VerifyTestBooks } from '../../contracts/test-book-audit.js';
import { visitLog, visitStream } from '../audit/read.js';

@QueryHandler(VerifyTestBooks)
export class VerifyTestBooksHandler implements IQueryHandler<VerifyTestBooks> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, progress }: VerifyTestBooks): Promise<readonly LedgerReport[]> {
    const { category } = testBookEvents;
    const books = new Map<string, TestBookVerifier>();
    const visit = (event: StoredEvent): void => {
      if (categoryOf(event.stream) !== category) return;
      const book = books.get(event.stream) ?? new TestBookVerifier(event.stream);
      books.set(event.stream, book);
      book.see(event);
    };
    if (workspaceId === null) await visitLog(this.store, visit, progress, { categories: [category] });
    else await visitStream(this.store, streamName(category, workspaceId), visit, progress);
    return [...books.values()].map((book) => book.report());
  }
}
