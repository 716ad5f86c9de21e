import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { collect, EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { projectPath } from '#platform/project-path.js';
import type { TypesettingPool } from '#platform/typesetting/typesetting-pool.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '#event-sourcing/core/event.js';
import {
  ledgerEntry,
  opaqueEntry,
  bookEvent,
  isOpaque,
  unreadableEntry,
  timeOf,
} from '../audit/book-entry.js';
import { bookStream, creditsEvents, type Accounts } from '../contracts/events.js';
import { GetLedger, type AsOf, type LedgerEntry, type Balance } from '../contracts/messages.js';
import { postings, balances, balanceOf } from '../domain/postings.js';
import { findClose, readMonth, statementOf } from '../audit/statement.js';
import {
  GetMonthMovements,
  type MonthMovements,
  GetMonthlyStatement,
  type MonthlyStatement,
  ExportLedger,
  type LedgerExport,
} from '../contracts/audit.js';
import { CREDITS_EXECUTOR, type CreditsExecutor } from '../executors.js';
import { monthAfter, monthBefore } from '../domain/calendar.js';
import { TypesetCustomerStatement, type PrintedStatement } from '../contracts/statement.js';
import { customerSheetOf, type CustomerSheet } from '../statement-pdf/sheets.js';
import { evolve, noBook } from '../domain/credits.state.js';
import { stateAt } from '../domain/due.js';
import { BookExport } from '../audit/export-book.js';
import { readStream } from './read.js';

/** Reads the whole stream, not the folded state: a statement consists of the recorded facts. */
@QueryHandler(GetLedger)
export class GetLedgerHandler implements IQueryHandler<GetLedger> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, livemode }: GetLedger): Promise<LedgerEntry[]> {
    return collect(entriesOf(this.store.read(bookStream(workspaceId, livemode)), { available: 0, held: 0 }));
  }
}

/**
 * Stored events as rows of a statement, oldest first, each with the balances after it.
 * @param opening balances before the first
 * @param isOf whether a month has rows; the entries of others change nothing
 * @param first the month of the first event, unless that opens the book
 */
async function* entriesOf(
  stored: AsyncIterable<StoredEvent>,
  opening: Pick<Accounts, 'available' | 'held'>,
  isOf: (month: string) => boolean = () => true,
  first = '',
): AsyncGenerator<LedgerEntry> {
  const after = { available: opening.available, held: opening.held };
  let month = first;
  for await (const one of stored) {
    const event = bookEvent(one);
    if (isOpaque(event)) {
      if (isOf(month)) yield opaqueEntry(unreadableEntry(event), after);
      continue;
    }
    if (event.type === 'BookOpened') month = event.data.period;
    if (isOf(month)) {
      for (const { account, amount } of postings(event))
        if (account === 'available' || account === 'held') after[account] += amount;
      yield ledgerEntry(event, after);
    }
    if (event.type === 'PeriodClosed') month = monthAfter(event.data.period);
  }
}

/** Finds the ends of the month by halves, so that a month of any length costs the same. It needs no fold of the book. */
@QueryHandler(GetMonthMovements)
export class MonthMovementsHandler implements IQueryHandler<GetMonthMovements> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CREDITS_EXECUTOR) private readonly executor: CreditsExecutor,
  ) {}

  async execute({ workspaceId, period }: GetMonthMovements): Promise<MonthMovements | null> {
    const stream = streamName(creditsEvents.category, workspaceId);
    const end = await this.endOf(workspaceId, stream, period);
    if (!end) return null;
    const { revision, ...shown } = end;
    const before = await findClose(this.store, stream, monthBefore(period));
    const from = before ? before.revision + 1n : 0n;
    const count = Number(revision - from) + 1;
    const backwards = (limit: number) =>
      this.store.read(stream, { from: revision, direction: 'backwards', limit: Math.min(limit, count) });
    const stored = this.store.read(stream, { from, limit: count });
    // Where a wrong clock hides the close before, the book is read from its beginning.
    const first = from === 0n ? '' : period;
    return {
      ...shown,
      count,
      newest: async (limit) => (count === 0 ? [] : newestOf(backwards(limit), end.closing, period)),
      entries: entriesOf(stored, end.opening, (month) => month === period, first),
    };
  }

  /** The end of a month, without its entries; `null`: nothing is recorded of it. */
  private async endOf(workspaceId: string, stream: string, period: string) {
    const close = await findClose(this.store, stream, period);
    if (close) {
      const { opening, closing } = close.data;
      return { closed: true, opening, closing, revision: close.revision };
    }
    const { state, revision } = await this.executor.load(workspaceId);
    if (state.period !== period || revision === 'no_stream') return null;
    const { opening, totals } = state;
    return { closed: false, opening, closing: balances(opening, totals), revision };
  }
}

/** Takes the movements back from the balances after the last one. @param stored the newest first */
const newestOf = async (
  stored: AsyncIterable<StoredEvent>,
  { available, held }: Accounts,
  period: string,
): Promise<readonly LedgerEntry[]> => {
  const after = { available, held };
  const entries: LedgerEntry[] = [];
  for await (const one of stored) {
    const event = bookEvent(one);
    if (isOpaque(event)) {
      entries.push(opaqueEntry(unreadableEntry(event), after));
      continue;
    }
    if ('period' in event.data && event.data.period < period) break;
    entries.push(ledgerEntry(event, after));
    for (const { account, amount } of postings(event))
      if (account === 'available' || account === 'held') after[account] -= amount;
  }
  return entries;
};

const readStatement = (
  store: EventStore,
  { workspaceId, period, livemode = true }: { workspaceId: string; period: string; livemode?: boolean },
): Promise<MonthlyStatement | null> =>
  statementOf(workspaceId, period, readMonth(store, bookStream(workspaceId, livemode), period));

@QueryHandler(GetMonthlyStatement)
export class MonthlyStatementHandler implements IQueryHandler<GetMonthlyStatement> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute(query: GetMonthlyStatement): Promise<MonthlyStatement | null> {
    return readStatement(this.store, query);
  }
}

/** The others are busy with the API's own work. */
const THREADS = 1;
const MOST_WAITING = 8;
const TIMEOUT_MS = 20_000;

@QueryHandler(TypesetCustomerStatement)
export class TypesetCustomerStatementHandler implements IQueryHandler<TypesetCustomerStatement> {
  private pool: TypesettingPool<CustomerSheet> | undefined;

  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute(query: TypesetCustomerStatement): Promise<PrintedStatement> {
    const statement = await readStatement(this.store, query);
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
      return { outcome: 'printed', pdf: await this.pool.run(customerSheetOf(statement, query.print)) };
    } catch (error) {
      if (error instanceof TypesettingBusy || error instanceof TypesettingHung) return { outcome: 'busy' };
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.close();
  }
}

/**
 * Folds a book up to a revision or an instant. At an instant, credits expired by then count as expired.
 * @param boundMs CLOCK_REFUSE_MS
 * @throws CorruptEvent for an entry that cannot be read and is not set aside: the balance after it is not known
 */
export const balanceAsOf = async (
  stored: AsyncIterable<StoredEvent>,
  asOf: AsOf,
  boundMs: number,
): Promise<Balance | null> => {
  let state = noBook;
  for await (const event of stored) {
    const later = 'revision' in asOf ? event.revision > asOf.revision : timeOf(event, boundMs) > asOf.instant;
    if (later) break;
    if (!isSetAside(event)) state = evolve(state, decode(creditsEvents, event));
  }
  if (state.workspaceId === null) return null;
  return balanceOf('instant' in asOf ? stateAt(state, asOf.instant) : state);
};

@QueryHandler(ExportLedger)
export class ExportLedgerHandler implements IQueryHandler<ExportLedger> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, format, period, progress }: ExportLedger): Promise<LedgerExport> {
    const stream = streamName(creditsEvents.category, workspaceId);
    const book = new BookExport(stream, format, period);
    return {
      text: book.text(readStream(this.store, stream, progress)),
      footer: () => book.footer(),
    };
  }
}

export const statementHandlers = [
  ExportLedgerHandler,
  GetLedgerHandler,
  MonthlyStatementHandler,
  MonthMovementsHandler,
  TypesetCustomerStatementHandler,
];
