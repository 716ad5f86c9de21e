import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { readMonth } from '../../audit/month-place.js';
import { statementOf } from '../../audit/statement.js';
import { TypesetMonthlyStatement } from '../../contracts/audit.js';
import { bookStream } from '../../contracts/events.js';
import type { Config } from '../../settings.js';

@QueryHandler(TypesetMonthlyStatement)
export class TypesetStatementHandler implements IQueryHandler<TypesetMonthlyStatement> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, period, workspaceName }: TypesetMonthlyStatement): Promise<Uint8Array | null> {
    const stream = readMonth(this.store, bookStream(workspaceId, true), period);
    const statement = await statementOf(workspaceId, period, stream, this.config.CLOCK_REFUSE_MS);
    if (!statement) return null;
    // Imported only here: only a process that prints needs the compiler and its fonts.
    const { statementPdf } = await import('../../statement-pdf/statement-pdf.js');
    return statementPdf(statement, workspaceName);
  }
}
