import type { Recorded } from '#event-sourcing/core/event.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import type { LedgerFooter } from '../contracts/export.js';
import { ACCOUNTS, type Accounts, type CreditsEvent } from '../contracts/events.js';
import type { Posting } from '../contracts/queries.js';
import { csvRecord } from '#platform/text/csv.js';
import { sentenceOf } from './unreadable-entry.js';

/** One posting of an event, with the balances after the event. A debit leaves the account, a credit enters it. */
export interface PostingRow {
  readonly revision: string;
  /** From 1, within the event. */
  readonly line: number;
  readonly account: string;
  readonly debit: number;
  readonly credit: number;
  readonly grantId: string;
  readonly availableAfter: number;
  readonly heldAfter: number;
}

export interface ExportHeader {
  readonly workspaceId: string;
  readonly stream: string;
  /** Of an export of one month (`yyyy-mm`), otherwise `null`. */
  readonly period: string | null;
  readonly firstRevision: string | null;
  /** Chain value before the first event. */
  readonly previousChain: string;
  readonly opening: Accounts;
}

/** An export format. Each method returns whole lines. */
export interface ExportWriter {
  header(header: ExportHeader): string;
  event(event: Recorded<CreditsEvent>, facts: object, rows: readonly PostingRow[]): string;
  /** @param facts the hashed facts of a link of the chain; `null`: the chain goes past the event */
  unreadable(entry: UnreadableEntry, facts: object | null, chain: string): string;
  footer(footer: LedgerFooter): string;
}

export const postingRows = (
  event: Recorded<CreditsEvent>,
  postings: readonly Posting[],
  after: Accounts,
): PostingRow[] =>
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
export const jsonLines: ExportWriter = {
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
export const CSV_COLUMNS = [
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

/** The order of a pack, the approval of a plan, or the reference of a correction. */
export const referenceOf = (data: CreditsEvent['data']): string | null => {
  if ('orderRef' in data) return data.orderRef;
  if ('approvalRef' in data) return data.approvalRef;
  return 'reference' in data ? data.reference : null;
};

const about = ({ data }: CreditsEvent): CsvCells => ({
  reading_id: 'readingId' in data ? data.readingId : '',
  reservation_id: 'reservationId' in data ? data.reservationId : '',
  cause_event_id: 'causeEventId' in data ? data.causeEventId : '',
  reason: 'reason' in data ? data.reason : '',
  approved_by: 'approvedBy' in data ? data.approvedBy : '',
  reverses_event_id: 'reversesEventId' in data ? (data.reversesEventId ?? '') : '',
  reference: referenceOf(data) ?? '',
  actor: 'actor' in data ? (data.actor ?? '') : '',
});

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
