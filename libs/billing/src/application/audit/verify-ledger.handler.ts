import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { VerifyLedger, type LedgerReport } from '../../contracts/audit.js';
import { creditsEvents } from '../../contracts/events.js';
import type { Config } from '../../settings.js';
import { visitLog, visitStream } from './read.js';

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, progress }: VerifyLedger): Promise<readonly LedgerReport[]> {
    const { category } = creditsEvents;
    const books = new Map<string, BookVerifier>();
    const visit = (event: StoredEvent): void => {
      if (categoryOf(event.stream) !== category) return;
      const book = books.get(event.stream) ?? this.verifierOf(event.stream);
      books.set(event.stream, book);
      book.see(event);
    };
    if (workspaceId === null) await visitLog(this.store, visit, progress);
    else await visitStream(this.store, streamName(category, workspaceId), visit, progress);
    return [...books.values()].map((book) => book.report());
  }

  private verifierOf(stream: string): BookVerifier {
    return new BookVerifier(stream, undefined, this.config.CLOCK_REFUSE_MS);
  }
}
