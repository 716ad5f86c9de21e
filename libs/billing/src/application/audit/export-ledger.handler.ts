import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { BookExport } from '../../audit/export-book.js';
import { ExportLedger, type LedgerExport } from '../../contracts/export.js';
import { creditsEvents } from '../../contracts/events.js';
import { readStream } from './read.js';

@QueryHandler(ExportLedger)
export class ExportLedgerHandler implements IQueryHandler<ExportLedger> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, format, range, progress }: ExportLedger): Promise<LedgerExport> {
    const stream = streamName(creditsEvents.category, workspaceId);
    const book = new BookExport(stream, format, range);
    return {
      text: book.text(readStream(this.store, stream, progress)),
      footer: () => book.footer(),
    };
  }
}
