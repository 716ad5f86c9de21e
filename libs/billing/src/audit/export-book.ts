import { createHash } from 'node:crypto';
import type { OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, continuesChain } from '#event-sourcing/core/hash-chain.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { csvRecord } from '#platform/text/csv.js';
import type { LedgerFooter, UnreadableEntry } from '../contracts/audit.js';
import { type Accounts, type CreditsEvent, type Totals, ACCOUNTS } from '../contracts/events.js';
import { monthAfter } from '../domain/calendar.js';
import { evolve, noBook } from '../domain/credits.state.js';
import { balances, emptyAccounts, emptyTotals, post, postings } from '../domain/postings.js';
import { BookMoney } from './book-money.js';
import { bookEvent, isOpaque, unreadableEntry, factsOf, sentenceOf } from './book-entry.js';
import type { Posting } from '../contracts/messages.js';

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
  private readonly money = new BookMoney();

  /** @param period as in {@link ExportLedger} */
  constructor(
    private readonly stream: string,
    format: 'csv' | 'jsonl',
    private readonly period: string | null,
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
      if (!this.isBegun && !this.startsWith(event)) {
        for (const { stored: entry } of waiting) this.skip(null, entry);
        this.skip(event, one);
        waiting = [];
        continue;
      }
      yield* this.opaqueRows(waiting);
      waiting = [];
      yield* this.begin(event.revision);
      yield this.row(event, one);
      if (event.type === 'PeriodClosed' && event.data.period === this.period) break;
    }
    yield* this.opaqueRows(waiting);
    if (!this.isBegun && this.period !== null) return;
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
      money: events === 0 ? null : this.money.all(this.state),
    };
  }

  private startsWith(event: CreditsEvent): boolean {
    if (this.period === null) return true;
    if (event.type === 'BookOpened') return event.data.period === this.period;
    const isOfClose = event.type === 'PeriodCarried' || event.type === 'PeriodClosed';
    return isOfClose && monthAfter(event.data.period) === this.period;
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
      if (this.period !== null && !this.isBegun) {
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
    const moved = postings(event);
    this.totals = post(this.totals, moved);
    this.events += 1;
    this.rows += moved.length;
    this.headRevision = String(event.revision);
    this.goThrough(stored, false);
    const before = this.state;
    this.state = evolve(before, event);
    this.money.see(event, before, this.state);
    const rows = postingRows(event, moved, balances(this.opening, this.totals));
    return this.write.event(event, chainedFacts(stored), rows);
  }
}

type ExportHeader = Readonly<Record<'workspaceId' | 'stream' | 'previousChain', string>> &
  Readonly<Record<'period' | 'firstRevision', string | null>> & { readonly opening: Accounts };

export type PostingRow = ReturnType<typeof postingRows>[number];

/** An export format. Each method returns whole lines. */
interface ExportWriter {
  header(header: ExportHeader): string;
  event(event: Recorded<CreditsEvent>, facts: object, rows: readonly PostingRow[]): string;
  /** @param facts the hashed facts of a link of the chain; `null`: the chain goes past the event */
  unreadable(entry: UnreadableEntry, facts: object | null, chain: string): string;
  footer(footer: LedgerFooter): string;
}

/** The postings of an event, with the balances after it. A debit leaves the account, a credit enters it. */
const postingRows = (event: Recorded<CreditsEvent>, postings: readonly Posting[], after: Accounts) =>
  postings.map(({ account, amount }, index) => ({
    revision: String(event.revision),
    line: index + 1,
    account,
    debit: Math.max(0, -amount),
    credit: Math.max(0, amount),
    grantId: grantOf(event, index),
    availableAfter: after.available,
    heldAfter: after.held,
  }));

/** A release moves credits grant by grant, with two postings each. Other events move all their grants at once. */
const grantOf = ({ type, data }: CreditsEvent, index: number): string => {
  if (type === 'CreditsReleased') return data.allocations[Math.floor(index / 2)]!.grantId;
  if ('grantId' in data) return data.grantId;
  return 'allocations' in data ? data.allocations.map(({ grantId }) => grantId).join(' ') : '';
};

/**
 * One JSON value per line: `header`, then each event, then `footer`. An event is an `event` line with the hashed facts
 * and its chain value, and its `posting` lines; or one `unreadable` line, when it is not interpreted. That is enough to recompute chain,
 * balances and totals.
 */
const jsonLines: ExportWriter = {
  header: ({ workspaceId, stream, period, ...rest }) =>
    line({ kind: 'header', format: 'credit-ledger-export/1', workspaceId, stream, period, ...rest }),
  event: (event, facts, rows) =>
    line({ kind: 'event', facts, chain: event.metadata.chain ?? null }) +
    rows.map((row) => line({ kind: 'posting', ...row })).join(''),
  unreadable: ({ stream: _, revision, ...entry }, facts, chain) =>
    line({ kind: 'unreadable', revision: String(revision), ...entry, facts, chain }),
  footer: ({ events, postings, unreadable, period, money, ...footer }) =>
    line({
      kind: 'footer',
      events,
      postings,
      ...(unreadable && { unreadable }),
      ...footer,
      period,
      money,
    }),
};

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Columns of the CSV. New ones are added at the end; none is moved or renamed. */
const CSV_COLUMNS = [
  'record',
  'revision',
  'line',
  'occurred_at',
  'event',
  'account',
  'debit',
  'credit',
  'available_after',
  'held_after',
  'grant_id',
  'reading_id',
  'reservation_id',
  'cause_event_id',
  'reason',
  'approved_by',
  'event_id',
  'chain',
  'reverses_event_id',
  'reference',
  'actor',
] as const;

type CsvCells = Partial<Record<(typeof CSV_COLUMNS)[number], string | number>>;

const record = (cells: CsvCells): string => csvRecord(CSV_COLUMNS.map((column) => cells[column] ?? ''));

/** For spreadsheets: `opening` rows, one `posting` row each, then `total` and `closing` rows and one `footer`. */
export const csv: ExportWriter = {
  header: ({ opening }) => csvRecord(CSV_COLUMNS) + balanceRows('opening', opening),
  event: (event, _, rows) =>
    rows
      .map((row) =>
        record({
          record: 'posting',
          revision: Number(row.revision),
          line: row.line,
          occurred_at: event.metadata.occurredAt,
          event: event.type,
          account: row.account,
          debit: row.debit,
          credit: row.credit,
          available_after: row.availableAfter,
          held_after: row.heldAfter,
          grant_id: row.grantId,
          ...about(event),
          event_id: event.id,
          chain: event.metadata.chain ?? '',
        }),
      )
      .join(''),
  unreadable: (entry, _, chain) =>
    record({
      record: 'unreadable',
      revision: Number(entry.revision),
      occurred_at: entry.occurredAt,
      event: entry.type,
      reason: sentenceOf(entry),
      approved_by: entry.setAside?.by ?? '',
      event_id: entry.eventId,
      chain,
    }),
  footer: ({ events, postings, unreadable, totals, closing, headRevision, headHash }) =>
    ACCOUNTS.map((account) => record({ record: 'total', account, ...totals[account] })).join('') +
    balanceRows('closing', closing) +
    record({
      record: 'footer',
      revision: headRevision ?? '',
      line: postings,
      event: `${events} events with ${postings} postings${unreadable ? `, and ${unreadable.entries} not interpreted` : ''}`,
      chain: headHash,
    }),
};

const about = ({ data }: CreditsEvent): CsvCells => {
  const facts = factsOf(data);
  return {
    reading_id: facts.readingId ?? '',
    reservation_id: facts.reservationId ?? '',
    cause_event_id: facts.causeEventId ?? '',
    reason: facts.reason ?? '',
    approved_by: facts.approvedBy ?? '',
    reverses_event_id: facts.reversesEventId ?? '',
    reference: facts.reference ?? '',
    actor: facts.actor ?? '',
  };
};

/** A negative balance appears as a debit, so that no amount has a sign. */
const balanceRows = (name: string, accounts: Accounts): string =>
  ACCOUNTS.map((account) =>
    record({
      record: name,
      account,
      debit: Math.max(0, -accounts[account]),
      credit: Math.max(0, accounts[account]),
    }),
  ).join('');
