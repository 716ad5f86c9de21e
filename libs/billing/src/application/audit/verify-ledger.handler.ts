import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId, streamName } from '@app/event-sourcing/core/stream-name.js';
import { describe } from '@app/event-sourcing/projections/describe-error.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import { verifyCorrections } from '../../audit/corrections/verify-corrections.js';
import { markOf, type SnapshotMark } from '../../audit/snapshot-check.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { BookSnapshots } from '../../book-snapshots.js';
import { VerifyLedger, type LedgerVerification } from '../../contracts/audit.js';
import type { ComparedSnapshots } from '../../contracts/compared-snapshots.js';
import { creditsEvents } from '../../contracts/events.js';
import type { Config } from '../../settings.js';
import { visitLog, visitStream } from './read.js';

interface ReadSnapshots {
  readonly marks: ReadonlyMap<string, SnapshotMark>;
  readonly compared: ComparedSnapshots;
}

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
    @Inject(BookSnapshots) private readonly snapshots: Pick<BookSnapshots, 'streams' | 'read'>,
  ) {}

  async execute({ workspaceId, progress }: VerifyLedger): Promise<LedgerVerification> {
    const { category } = creditsEvents;
    const adjusted: StoredEvent[] = [];
    const { marks, compared } = await this.readSnapshots(workspaceId);
    const books = new Map<string, BookVerifier>();
    const visit = (event: StoredEvent): void => {
      if (categoryOf(event.stream) !== category) return;
      const book = books.get(event.stream) ?? this.verifierOf(event.stream);
      books.set(event.stream, book);
      book.see(event);
      const mark = marks.get(event.stream);
      if (mark?.revision === event.revision) book.compare(mark);
      if (event.type === 'CreditsAdjusted') adjusted.push(event);
    };
    if (workspaceId === null) {
      await visitLog(this.store, visit, progress, { categories: [category] });
    } else {
      await visitStream(this.store, streamName(category, workspaceId), visit, progress);
    }
    const { OPERATORS: operators } = this.config;
    const { findings, compensated } = await verifyCorrections(this.store, adjusted, operators);
    return {
      books: [...books.values()].map((book) => book.report()),
      corrections: findings,
      compensated,
      snapshots: compared,
    };
  }

  /** What the snapshots say before the first entry is read; those taken later are not compared. */
  private async readSnapshots(workspaceId: string | null): Promise<ReadSnapshots> {
    const marks = new Map<string, SnapshotMark>();
    const foreign: string[] = [];
    try {
      const streams =
        workspaceId === null
          ? await this.snapshots.streams()
          : [streamName(creditsEvents.category, workspaceId)];
      for (const stream of streams) {
        const found = await this.snapshots.read(stream);
        if (found === 'foreign') foreign.push(streamId(stream));
        const mark = found && found !== 'foreign' ? markOf(found) : null;
        if (mark) marks.set(stream, mark);
      }
    } catch (error) {
      return { marks: new Map(), compared: { foreign: [], problem: describe(error) } };
    }
    return { marks, compared: { foreign, problem: null } };
  }

  private verifierOf(stream: string): BookVerifier {
    return new BookVerifier(stream, this.config.CLOCK_REFUSE_MS);
  }
}
