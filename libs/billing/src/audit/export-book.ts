import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts } from '@app/event-sourcing/core/hash-chain.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { LedgerFooter } from '../contracts/audit.js';
import { creditsEvents, type Accounts, type Totals } from '../contracts/events.js';
import { balances, emptyAccounts, emptyTotals, post, postings } from '../domain/credits/postings.js';
import { csv, jsonLines, postingRows, type ExportWriter } from './export-rows.js';


export interface ExportRange {
  /** Milliseconds, inclusive. `null`: from the first event. */
  readonly from: number | null;
  /** Milliseconds, exclusive. `null`: to the last event. */
  readonly to: number | null;
}

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

  constructor(
    private readonly stream: string,
    format: 'csv' | 'jsonl',
    private readonly range: ExportRange,
  ) {
    this.write = format === 'csv' ? csv : jsonLines;
  }

  /** @throws CorruptEvent when an event does not belong to a book */
  async *text(stored: AsyncIterable<StoredEvent>): AsyncGenerator<string> {
    for await (const event of stored) {
      const at = Date.parse(event.metadata.occurredAt);
      if (this.events === 0 && this.range.from !== null && at < this.range.from) {
        this.skip(event);
        continue;
      }
      if (this.range.to !== null && at >= this.range.to) break;
      if (this.events === 0) yield this.header(String(event.revision));
      yield this.row(event);
    }
    if (this.events === 0) yield this.header(null);
    yield this.write.footer(this.footer());
  }

  footer(): LedgerFooter {
    const { events, rows, totals, opening, headRevision, headHash } = this;
    return { events, postings: rows, totals, closing: balances(opening, totals), headRevision, headHash };
  }

  private skip(event: StoredEvent): void {
    this.opening = balances(this.opening, post(emptyTotals, postings(decode(creditsEvents, event))));
    this.before = event.metadata.chain ?? '';
    this.headHash = this.before;
  }

  private header(firstRevision: string | null): string {
    const { stream, before: previousChain, opening } = this;
    return this.write.header({
      workspaceId: streamId(stream),
      stream,
      firstRevision,
      previousChain,
      opening,
    });
  }

  private row(stored: StoredEvent): string {
    const event = decode(creditsEvents, stored);
    const moved = postings(event);
    this.totals = post(this.totals, moved);
    this.events += 1;
    this.rows += moved.length;
    this.headRevision = String(event.revision);
    this.headHash = event.metadata.chain ?? '';
    const rows = postingRows(event, moved, balances(this.opening, this.totals));
    return this.write.event(event, chainedFacts(stored), rows);
  }
}
