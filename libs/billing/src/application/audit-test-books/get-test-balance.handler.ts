import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { timeOf } from '../../audit/record-time.js';
import type { AsOf } from '../../contracts/audit.js';
import { testBookEvents, type TestBalance } from '../../contracts/test-book.js';
import { GetTestBalance } from '../../contracts/test-book-audit.js';
import { testBookAt } from '../../domain/test-book/test-book.decider.js';
import { evolve, noTestBook, type TestBook } from '../../domain/test-book/test-book.state.js';
import type { Config } from '../../settings.js';
import { TestBooks } from '../test-books.js';

@QueryHandler(GetTestBalance)
export class GetTestBalanceHandler implements IQueryHandler<GetTestBalance> {
  constructor(
    private readonly books: TestBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  /** @throws CorruptEvent for an entry that cannot be read and is not set aside: the balance is not known */
  async execute({ workspaceId, asOf }: GetTestBalance): Promise<TestBalance | null> {
    const book = asOf ? await this.bookAsOf(workspaceId, asOf) : await this.books.current(workspaceId);
    if (book.workspaceId === null) return null;
    const { available, held, consumed } = book;
    return { available, held, consumed, filled: available + held + consumed };
  }

  private async bookAsOf(workspaceId: string, asOf: AsOf): Promise<TestBook> {
    let book = noTestBook;
    for await (const event of this.store.read(streamName(testBookEvents.category, workspaceId))) {
      const isLater =
        'revision' in asOf
          ? event.revision > asOf.revision
          : timeOf(event, this.config.CLOCK_REFUSE_MS) > asOf.instant;
      if (isLater) break;
      if (!isSetAside(event)) book = evolve(book, decode(testBookEvents, event));
    }
    return 'revision' in asOf || book.workspaceId === null
      ? book
      : testBookAt(book, workspaceId, asOf.instant);
  }
}
