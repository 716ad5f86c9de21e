import { createHash } from 'node:crypto';
import type { OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, continuesChain } from '#event-sourcing/core/hash-chain.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { ExportRange, LedgerFooter } from '../contracts/export.js';
import type { Accounts, CreditsEvent, Totals } from '../contracts/events.js';
import { monthAfter } from '../domain/credits/calendar.js';
import { evolve, noBook } from '../domain/credits/credits.state.js';
import { balances, emptyAccounts, emptyTotals, post, postings } from '../domain/credits/postings.js';
import { BookMoney } from './book-money.js';
import { closes, startsWhole } from './book-start.js';
import { csv, jsonLines, postingRows, type ExportWriter } from './export-rows.js';
import { timeOf } from './record-time.js';
import { bookEvent, isOpaque, unreadableEntry } from './unreadable-entry.js';

/** Writes a book event by event, so that memory use does not grow with the book. */
export class BookExport {
  private readonly write: ExportWriter;
  private opening: Accounts = emptyAccounts;
  private before = CHAIN_START;
  private totals: Totals = emptyTotals;
  private events = 0;
  private unreadable = 0;
  private readonly unreadableHash = createHash('sha256');
  private isBegun = false;
  private rows = 0;
  private headRevision: string | null = null;
  private headHash = CHAIN_START;
  private state = noBook;
  /** `null` in an export that starts in the middle of a month: it does not know the grants. */
  private money: BookMoney | null = new BookMoney();

  /** @param boundMs CLOCK_REFUSE_MS */
  constructor(
    private readonly stream: string,
    format: 'csv' | 'jsonl',
    private readonly range: ExportRange,
    private readonly boundMs: number,
  ) {
    this.write = format === 'csv' ? csv : jsonLines;
  }

  /** Entries that cannot be read stand before the next one that can. Their own dates prove nothing. */
  async *text(stored: AsyncIterable<StoredEvent>): AsyncGenerator<string> {
    let waiting: OpaqueEvent[] = [];
    for await (const one of stored) {
      const event = bookEvent(one);
      if (isOpaque(event)) {
        waiting.push(event);
        continue;
      }
      if (!this.isBegun && !this.startsWith(event, timeOf(event, this.boundMs))) {
        for (const { stored: entry } of waiting) this.skip(null, entry);
        this.skip(event, one);
        waiting = [];
        continue;
      }
      if ('to' in this.range && this.endsBefore(this.range.to, event)) break;
      yield* this.opaqueRows(waiting);
      waiting = [];
      yield* this.begin(event.revision);
      yield this.row(event, one);
      if ('period' in this.range && event.type === 'PeriodClosed' && event.data.period === this.range.period)
        break;
    }
    yield* this.opaqueRows(this.atTheEnd(waiting));
    if (!this.isBegun && 'period' in this.range) return;
    yield* this.begin(null);
    yield this.write.footer(this.footer());
  }

  footer(): LedgerFooter {
    const { events, rows, totals, opening, headRevision, headHash } = this;
    return {
      events,
      postings: rows,
      unreadable:
        this.unreadable === 0
          ? null
          : { entries: this.unreadable, sha256: this.unreadableHash.copy().digest('hex') },
      totals,
      closing: balances(opening, totals),
      headRevision,
      headHash,
      period: this.period,
      money: events === 0 ? null : (this.money?.all(this.state) ?? null),
    };
  }

  private get period(): string | null {
    return 'period' in this.range ? this.range.period : null;
  }

  private startsWith(event: CreditsEvent, at: number): boolean {
    if ('from' in this.range) return this.range.from === null || at >= this.range.from;
    if (event.type === 'BookOpened') return event.data.period === this.range.period;
    return closes(event) && monthAfter(event.data.period) === this.range.period;
  }

  private skip(event: CreditsEvent | null, stored: StoredEvent): void {
    if (event) this.opening = balances(this.opening, post(emptyTotals, postings(event)));
    this.goThrough(stored, event === null);
    this.before = this.headHash;
  }

  /** The chain goes past an event that another program appended. @returns whether it goes through this one */
  private goThrough(stored: StoredEvent, isOpaque: boolean): boolean {
    const isLink = !isOpaque || continuesChain(this.headHash, stored);
    if (isLink) this.headHash = stored.metadata.chain ?? '';
    return isLink;
  }

  /** Of the entries after the last one that can be read, those in the range by their own dates. */
  private atTheEnd(waiting: readonly OpaqueEvent[]): readonly OpaqueEvent[] {
    if (!('from' in this.range)) return this.isBegun ? waiting : [];
    const { from, to } = this.range;
    const rest = [...waiting];
    while (rest[0] && !this.isBegun && from !== null && !this.endsBefore(from, rest[0].stored))
      this.skip(null, rest.shift()!.stored);
    const end = rest.findIndex((one) => this.endsBefore(to, one.stored));
    return end < 0 ? rest : rest.slice(0, end);
  }

  private endsBefore(to: number | null, event: Pick<StoredEvent, 'metadata' | 'recordedAt'>): boolean {
    return to !== null && timeOf(event, this.boundMs) >= to;
  }

  /** The header, before the first row. @param first revision of the first row; `null`: there is none */
  private *begin(first: bigint | null): Generator<string> {
    if (this.isBegun) return;
    this.isBegun = true;
    const { stream, before: previousChain, opening } = this;
    yield this.write.header({
      workspaceId: streamId(stream),
      stream,
      period: this.period,
      firstRevision: first === null ? null : String(first),
      previousChain,
      opening,
    });
  }

  /** The month of an export begins with the event that opens it. */
  private *opaqueRows(entries: readonly OpaqueEvent[]): Generator<string> {
    for (const event of entries) {
      const { stored } = event;
      if ('period' in this.range && !this.isBegun) {
        this.skip(null, stored);
        continue;
      }
      yield* this.begin(stored.revision);
      const isLink = this.goThrough(stored, true);
      this.unreadable += 1;
      this.headRevision = String(stored.revision);
      // Its facts are shown only where the chain covers them: anything may stand in it.
      const facts = isLink ? chainedFacts(stored) : null;
      const line = this.write.unreadable(unreadableEntry(event), facts, this.headHash);
      this.unreadableHash.update(line);
      yield line;
    }
  }

  private row(event: Recorded<CreditsEvent>, stored: StoredEvent): string {
    if (this.events === 0 && !startsWhole(event)) this.money = null;
    const moved = postings(event);
    this.totals = post(this.totals, moved);
    this.events += 1;
    this.rows += moved.length;
    this.headRevision = String(event.revision);
    this.goThrough(stored, false);
    if (this.money) {
      const before = this.state;
      this.state = evolve(before, event);
      this.money.see(event, before, this.state);
    }
    const rows = postingRows(event, moved, balances(this.opening, this.totals));
    return this.write.event(event, chainedFacts(stored), rows);
  }
}
