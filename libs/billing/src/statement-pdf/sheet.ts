import { startOfMonth } from '../domain/credits/calendar.js';
import type { GrantMovement, MonthlyStatement } from '../contracts/audit.js';
import { CURRENCY } from '../contracts/catalogue.js';
import { ACCOUNTS } from '../contracts/events.js';
import { MONEY_FIGURES } from '../contracts/money.js';
import type { LedgerEntry } from '../contracts/queries.js';
import { change, chartDays, daysOf, grouped, type ChartDay } from './chart-days.js';

/** Most movements printed one by one. A busier month is summed up by day; its CSV export has every movement. */
export const MOST_MOVEMENTS = 1_000;

export interface PrintedMovement {
  readonly revision: number;
  /** `yyyy-mm-dd hh:mm:ss`. */
  readonly at: string;
  readonly type: string;
  /** Reading, order, price, reason and who. */
  readonly details: string;
  /** Changes of the accounts, signed. */
  readonly available: number;
  readonly held: number;
  readonly consumed: number;
  readonly expired: number;
  readonly availableAfter: number;
  readonly heldAfter: number;
}

/** What the template prints. Texts are final; numbers are whole credits, or minor units of the currency. */
export interface StatementSheet {
  readonly workspaceId: string;
  readonly workspaceName: string | null;
  readonly period: string;
  readonly title: string;
  readonly status: string;
  /** RFC 3339, of the last entry that can be read. */
  readonly asOf: string;
  /** What a reader must know of the entries, a sentence each. */
  readonly notes: readonly string[];
  readonly currency: string;
  /** In the order of MONEY_FIGURES. */
  readonly money: readonly number[] | null;
  readonly accounts: readonly (readonly [
    name: string,
    opening: number,
    out: number,
    into: number,
    closing: number,
  ])[];
  readonly chart: {
    readonly opening: number;
    /** One for each day of the month. */
    readonly days: readonly ChartDay[];
    readonly alt: string;
  };
  readonly grants: readonly GrantMovement[];
  /** `null`: too many to print, see `days`. */
  readonly movements: readonly PrintedMovement[] | null;
  readonly days: ReturnType<typeof daysOf>;
}

export const sheetOf = (statement: MonthlyStatement, workspaceName: string | null): StatementSheet => {
  const { workspaceId, period, closed, opening, totals, closing, entries, grants, money, notes } = statement;
  const last = entries.at(-1)!;
  const readable = entries.filter(({ unreadable }) => unreadable === undefined);
  const days = chartDays(statement);
  return {
    workspaceId,
    workspaceName,
    period,
    title: `Credit statement, ${period}`,
    status: closed
      ? `closed by event ${last.eventId} at revision ${last.revision}`
      : `open: as of ${last.occurredAt}`,
    asOf: readable.at(-1)?.occurredAt ?? new Date(startOfMonth(period)).toISOString(),
    notes: notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`),
    currency: money?.currency ?? CURRENCY,
    money: money && MONEY_FIGURES.map((name) => money[name]),
    accounts: ACCOUNTS.map((account) => [
      account,
      opening[account],
      totals[account].debit,
      totals[account].credit,
      closing[account],
    ]),
    chart: { opening: opening.available, days, alt: summary(statement, days) },
    grants,
    movements: entries.length > MOST_MOVEMENTS ? null : entries.map(printed),
    days: daysOf(readable),
  };
};

/** Entries that an operator causes. */
const BY_OPERATORS: ReadonlySet<LedgerEntry['type']> = new Set([
  'CreditsAdjusted',
  'PackPurchased',
  'SubscriptionStarted',
  'SubscriptionChanged',
  'SubscriptionCancelled',
]);

/** What the chart says, in words. */
const summary = ({ opening, closing, totals }: MonthlyStatement, days: readonly ChartDay[]): string => {
  const used = totals.consumed.credit;
  const busiest = days.reduce(
    (best, { consumed }, index) => (consumed > days[best]!.consumed ? index : best),
    0,
  );
  const granted = totals['issued:plan'].debit + totals['issued:pack'].debit + totals.adjusted.debit;
  const most = used > 0 ? `, most on day ${busiest + 1} (${grouped(days[busiest]!.consumed)})` : '';
  const withdrawn =
    totals.adjusted.credit > 0 ? `, corrections withdrew ${grouped(totals.adjusted.credit)}` : '';
  return `${grouped(opening.available)} credits were available at the start and ${grouped(closing.available)} at the end. ${grouped(granted)} were granted, readings used ${grouped(used)}${most}${withdrawn}, and ${grouped(totals.expired.credit)} expired.`;
};

const printed = (entry: LedgerEntry): PrintedMovement => ({
  revision: Number(entry.revision),
  at: entry.occurredAt.slice(0, 19).replace('T', ' '),
  type: entry.type,
  details: [
    entry.readingId && `reading ${entry.readingId}`,
    entry.reference && `reference ${entry.reference}`,
    entry.priceCents === null ? null : `price ${(entry.priceCents / 100).toFixed(2)} ${CURRENCY}`,
    entry.reason,
    BY_OPERATORS.has(entry.type) ? `by ${entry.actor}` : null,
    entry.approvedBy && `approved by ${entry.approvedBy}`,
    entry.unreadable,
  ]
    .filter((part) => part)
    .join(', '),
  available: change(entry, 'available'),
  held: change(entry, 'held'),
  consumed: change(entry, 'consumed'),
  expired: change(entry, 'expired'),
  availableAfter: entry.availableAfter,
  heldAfter: entry.heldAfter,
});
