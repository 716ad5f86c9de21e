import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { BookExport } from '../../audit/export-book.js';
import { ExportLedger, type LedgerExport } from '../../contracts/export.js';
import { creditsEvents } from '../../contracts/events.js';
import type { Config } from '../../settings.js';
import { readStream } from './read.js';

@QueryHandler(ExportLedger)
export class ExportLedgerHandler implements IQueryHandler<ExportLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, format, range, progress }: ExportLedger): Promise<LedgerExport> {
    const stream = streamName(creditsEvents.category, workspaceId);
    const book = new BookExport(stream, format, range, this.config.CLOCK_REFUSE_MS);
    return {
      text: book.text(readStream(this.store, stream, progress)),
      footer: () => book.footer(),
    };
  }
}
