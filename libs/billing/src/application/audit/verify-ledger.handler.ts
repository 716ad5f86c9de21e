import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { verifyCorrections } from '../../audit/corrections.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { VerifyLedger, type LedgerVerification } from '../../contracts/audit.js';
import { booksOf, bookStream } from '../../contracts/events.js';
import type { Config } from '../../settings.js';
import { visitLog, visitStream } from './read.js';

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
  ) {}

  /** The fills of test books are corrections that nobody signs. */
  async execute({ workspaceId, livemode, progress }: VerifyLedger): Promise<LedgerVerification> {
    const category = booksOf(livemode);
    const adjusted: StoredEvent[] = [];
    const books = new Map<string, BookVerifier>();
    const visit = (event: StoredEvent): void => {
      if (categoryOf(event.stream) !== category) return;
      const book = books.get(event.stream) ?? this.verifierOf(event.stream);
      books.set(event.stream, book);
      book.see(event);
      if (livemode && event.type === 'CreditsAdjusted') adjusted.push(event);
    };
    if (workspaceId === null) {
      await visitLog(this.store, visit, progress, { categories: [category] });
    } else {
      await visitStream(this.store, bookStream(workspaceId, livemode), visit, progress);
    }
    const { OPERATORS: operators } = this.config;
    const { findings, compensated } = await verifyCorrections(this.store, adjusted, operators);
    return {
      books: [...books.values()].map((book) => book.report()),
      corrections: findings,
      compensated,
    };
  }

  private verifierOf(stream: string): BookVerifier {
    return new BookVerifier(stream, this.config.CLOCK_REFUSE_MS);
  }
}
