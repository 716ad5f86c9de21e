import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { testStatementOf } from '../../audit/test-statement.js';
import { testBookEvents } from '../../contracts/test-book.js';
import { GetTestStatement, type TestStatement } from '../../contracts/test-book-audit.js';

@QueryHandler(GetTestStatement)
export class GetTestStatementHandler implements IQueryHandler<GetTestStatement> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  execute({ workspaceId, period }: GetTestStatement): Promise<TestStatement | null> {
    const stream = this.store.read(streamName(testBookEvents.category, workspaceId));
    return testStatementOf(workspaceId, period, stream);
  }
}
