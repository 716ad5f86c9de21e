import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { projectPath } from '#platform/project-path.js';
import { CONFIG } from '#platform/tokens.js';
import type { TypesettingPool } from '#platform/typesetting/typesetting-pool.js';
import { readMonth } from '../../audit/month-place.js';
import { statementOf } from '../../audit/statement.js';
import { TypesetCustomerStatement, type PrintedStatement } from '../../contracts/customer-statement.js';
import { bookStream } from '../../contracts/events.js';
import type { Config } from '../../settings.js';
import { customerSheetOf, type CustomerSheet } from '../../statement-pdf/customer-sheet.js';

/** The others are busy with the API's own work. */
const THREADS = 1;
const MOST_WAITING = 8;
const TIMEOUT_MS = 20_000;

@QueryHandler(TypesetCustomerStatement)
export class TypesetCustomerStatementHandler implements IQueryHandler<TypesetCustomerStatement> {
  private pool: TypesettingPool<CustomerSheet> | undefined;

  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, period, print }: TypesetCustomerStatement): Promise<PrintedStatement> {
    const stream = readMonth(this.store, bookStream(workspaceId, true), period);
    const statement = await statementOf(workspaceId, period, stream, this.config.CLOCK_REFUSE_MS);
    if (!statement) return { outcome: 'none' };
    // Imported only here: only a process that prints needs threads.
    const { TypesettingBusy, TypesettingHung, typesettingPool } =
      await import('#platform/typesetting/typesetting-pool.js');
    this.pool ??= typesettingPool<CustomerSheet>({
      worker: projectPath('dist/libs/billing/src/statement-pdf/statement-thread.js'),
      threads: THREADS,
      maxQueue: MOST_WAITING,
      timeoutMs: TIMEOUT_MS,
    });
    try {
      return { outcome: 'printed', pdf: await this.pool.run(customerSheetOf(statement, print)) };
    } catch (error) {
      if (error instanceof TypesettingBusy || error instanceof TypesettingHung) return { outcome: 'busy' };
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.close();
  }
}
