import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { verifyCorrections } from '../audit/corrections.js';
import { bookEvent } from '../audit/book-entry.js';
import { VerifiedBooks } from '../audit/verified-books.js';
import { VerifyLedger, type LedgerVerification } from '../contracts/audit.js';
import { booksOf, bookStream } from '../contracts/events.js';
import type { Config } from '../settings.js';
import { readStream, visitLog } from './read.js';

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
  ) {}

  /** The fills of test books are corrections that nobody signs. */
  async execute({ workspaceId, livemode, progress }: VerifyLedger): Promise<LedgerVerification> {
    const adjusted: StoredEvent[] = [];
    const books = new VerifiedBooks(null, this.config.CLOCK_REFUSE_MS);
    const visit = (stored: StoredEvent): void => {
      books.see(stored, bookEvent(stored));
      if (livemode && stored.type === 'CreditsAdjusted') adjusted.push(stored);
    };
    if (workspaceId === null)
      await visitLog(this.store, visit, progress, { categories: [booksOf(livemode)] });
    else
      for await (const stored of readStream(this.store, bookStream(workspaceId, livemode), progress))
        visit(stored);
    const { OPERATORS: operators } = this.config;
    const { findings, compensated } = await verifyCorrections(this.store, adjusted, operators);
    return {
      books: books.result().map(({ verifier }) => verifier.report()),
      corrections: findings,
      compensated,
    };
  }
}
