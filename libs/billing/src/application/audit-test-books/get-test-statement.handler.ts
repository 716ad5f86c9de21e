import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
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
