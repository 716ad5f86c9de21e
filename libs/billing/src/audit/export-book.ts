import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { CHAIN_START } from '@app/event-sourcing/core/hash-chain.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { ExportRange, LedgerFooter } from '../contracts/export.js';
import { creditsEvents, type Accounts, type CreditsEvent, type Totals } from '../contracts/events.js';
import { monthAfter } from '../domain/credits/calendar.js';
import { evolve, noBook } from '../domain/credits/credits.state.js';
import { balances, emptyAccounts, emptyTotals, post, postings } from '../domain/credits/postings.js';
import { BookMoney } from './book-money.js';
import { csv, jsonLines, postingRows, type ExportWriter } from './export-rows.js';
import { chainedFacts } from './verify-book.js';

/** Writes a book event by event, so that memory use does not grow with the book. */
export class BookExport {
  private readonly write: ExportWriter;
  private opening: Accounts = emptyAccounts;
  private before = CHAIN_START;
  private totals: Totals = emptyTotals;
  private events = 0;
  private rows = 0;
  private headRevision: string | null = null;
  private headHash = CHAIN_START;
  private state = noBook;
  /** `null` in an export that starts in the middle of a month: it does not know the grants. */
  private money: BookMoney | null = new BookMoney();

  constructor(
    private readonly stream: string,
    format: 'csv' | 'jsonl',
    private readonly range: ExportRange,
  ) {
    this.write = format === 'csv' ? csv : jsonLines();
  }

  /** @throws CorruptEvent when an event does not belong to a book */
  async *text(stored: AsyncIterable<StoredEvent>): AsyncGenerator<string> {
    for await (const one of stored) {
      const event = decode(creditsEvents, one);
      const isFirst = this.events === 0;
      if (isFirst && !this.startsWith(event, Date.parse(event.metadata.occurredAt))) {
        this.skip(event, one.metadata.chain);
        continue;
      }
      if ('to' in this.range && isBefore(this.range.to, event.metadata.occurredAt)) break;
      if (isFirst) yield this.header(event.type, String(event.revision));
      yield this.row(event, one);
      if ('period' in this.range && event.type === 'PeriodClosed' && event.data.period === this.range.period)
        break;
    }
    if (this.events === 0) {
      if ('period' in this.range) return;
      yield this.header(null, null);
    }
    yield this.write.footer(this.footer());
  }

  footer(): LedgerFooter {
    const { events, rows, totals, opening, headRevision, headHash } = this;
    const closing = balances(opening, totals);
    const money = events === 0 ? null : (this.money?.all(this.state) ?? null);
    return { events, postings: rows, totals, closing, headRevision, headHash, period: this.period, money };
  }

  private get period(): string | null {
    return 'period' in this.range ? this.range.period : null;
  }

  private startsWith(event: CreditsEvent, at: number): boolean {
    if ('from' in this.range) return this.range.from === null || at >= this.range.from;
    if (event.type === 'BookOpened') return event.data.period === this.range.period;
    return event.type === 'PeriodClosed' && monthAfter(event.data.period) === this.range.period;
  }

  private skip(event: CreditsEvent, chain = ''): void {
    this.opening = balances(this.opening, post(emptyTotals, postings(event)));
    this.before = chain;
    this.headHash = chain;
  }

  private header(first: CreditsEvent['type'] | null, firstRevision: string | null): string {
    const { stream, before: previousChain, opening } = this;
    if (first !== 'BookOpened' && first !== 'PeriodClosed') this.money = null;
    return this.write.header({
      workspaceId: streamId(stream),
      stream,
      period: this.period,
      firstRevision,
      previousChain,
      opening,
    });
  }

  private row(event: ReturnType<typeof decode<typeof creditsEvents>>, stored: StoredEvent): string {
    const moved = postings(event);
    this.totals = post(this.totals, moved);
    this.events += 1;
    this.rows += moved.length;
    this.headRevision = String(event.revision);
    this.headHash = event.metadata.chain ?? '';
    if (this.money) {
      const before = this.state;
      this.state = evolve(before, event);
      this.money.see(event, before, this.state);
    }
    const rows = postingRows(event, moved, balances(this.opening, this.totals));
    return this.write.event(event, chainedFacts(stored), rows);
  }
}

const isBefore = (to: number | null, occurredAt: string): boolean =>
  to !== null && Date.parse(occurredAt) >= to;
