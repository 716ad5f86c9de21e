import type { OpaqueEvent } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, continuesChain } from '@app/event-sourcing/core/hash-chain.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { LedgerFooter } from '../contracts/audit.js';
import type { Accounts, Totals } from '../contracts/events.js';
import { balances, emptyAccounts, emptyTotals, post, postings } from '../domain/credits/postings.js';
import { csv, jsonLines, postingRows, type ExportWriter } from './export-rows.js';
import { bookEvent, isOpaque, unreadableEntry } from './unreadable-entry.js';

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
  private unreadable = 0;
  private begun = false;
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

  async *text(stored: AsyncIterable<StoredEvent>): AsyncGenerator<string> {
    for await (const event of stored) {
      const at = Date.parse(event.metadata.occurredAt);
      if (!this.begun && this.range.from !== null && at < this.range.from) {
        this.skip(event);
        continue;
      }
      if (this.range.to !== null && at >= this.range.to) break;
      if (!this.begun) yield this.header(String(event.revision));
      this.begun = true;
      yield this.row(event);
    }
    if (!this.begun) yield this.header(null);
    yield this.write.footer(this.footer());
  }

  footer(): LedgerFooter {
    const { events, rows, unreadable, totals, opening, headRevision, headHash } = this;
    return {
      events,
      postings: rows,
      unreadable,
      totals,
      closing: balances(opening, totals),
      headRevision,
      headHash,
    };
  }

  private skip(stored: StoredEvent): void {
    const event = bookEvent(stored);
    if (!isOpaque(event)) this.opening = balances(this.opening, post(emptyTotals, postings(event)));
    this.before = this.chainAfter(stored, isOpaque(event));
  }

  /** The chain goes past an event that another program appended. */
  private chainAfter(stored: StoredEvent, opaque: boolean): string {
    if (!opaque || continuesChain(this.headHash, stored)) this.headHash = stored.metadata.chain ?? '';
    return this.headHash;
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
    const event = bookEvent(stored);
    if (isOpaque(event)) return this.opaqueRow(event);
    const moved = postings(event);
    this.totals = post(this.totals, moved);
    this.events += 1;
    this.rows += moved.length;
    this.headRevision = String(event.revision);
    this.chainAfter(stored, false);
    const rows = postingRows(event, moved, balances(this.opening, this.totals));
    return this.write.event(event, chainedFacts(stored), rows);
  }

  /** Its facts are shown only where the chain covers them: anything may stand in it. */
  private opaqueRow(event: OpaqueEvent): string {
    const { stored } = event;
    const isLink = continuesChain(this.headHash, stored);
    this.unreadable += 1;
    this.headRevision = String(stored.revision);
    this.chainAfter(stored, true);
    return this.write.unreadable(unreadableEntry(event), isLink ? chainedFacts(stored) : null, this.headHash);
  }
}
