import { endOfMonth, startOfMonth } from '../domain/credits/calendar.js';
import type { GrantMovement, MonthlyStatement } from '../contracts/audit.js';
import { ACCOUNTS } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/queries.js';

/** Most movements printed one by one. A busier month is summed up by day; its CSV export has every movement. */
export const MOST_MOVEMENTS = 1_000;
const HOUR_MS = 3_600_000;

/** A balance from `at` on, in hours since the month began. */
export interface ChartPoint {
  readonly at: number;
  readonly available: number;
  readonly held: number;
}

/** What the template prints. Texts are final; numbers are whole credits. */
export interface StatementSheet {
  readonly workspaceId: string;
  readonly period: string;
  readonly title: string;
  readonly status: string;
  /** RFC 3339, of the last entry. */
  readonly asOf: string;
  readonly accounts: readonly (readonly [
    name: string,
    opening: number,
    out: number,
    into: number,
    closing: number,
  ])[];
  readonly chart: {
    readonly hours: number;
    readonly points: readonly ChartPoint[];
    readonly alt: string;
  };
  readonly grants: readonly GrantMovement[];
  /** `null`: too many to print, see `days`. */
  readonly movements: readonly (readonly string[])[] | null;
  readonly days: readonly (readonly [day: string, movements: number, available: number, held: number])[];
}

export const sheetOf = (statement: MonthlyStatement): StatementSheet => {
  const { workspaceId, period, closed, opening, totals, closing, entries, grants } = statement;
  const last = entries.at(-1)!;
  const points = chartPoints(period, opening, entries);
  return {
    workspaceId,
    period,
    title: `Credit statement, ${period}`,
    status: closed
      ? `closed by event ${last.eventId} at revision ${last.revision}`
      : `open: as of ${last.occurredAt}`,
    asOf: last.occurredAt,
    accounts: ACCOUNTS.map((account) => [
      account,
      opening[account],
      totals[account].debit,
      totals[account].credit,
      closing[account],
    ]),
    chart: {
      hours: (endOfMonth(period) - startOfMonth(period)) / HOUR_MS,
      points,
      alt: `Credits available over ${period}: ${opening.available} at its beginning, ${closing.available} at its end, between ${Math.min(...points.map(({ available }) => available))} and ${Math.max(...points.map(({ available }) => available))}.`,
    },
    grants,
    movements: entries.length > MOST_MOVEMENTS ? null : entries.map(movementRow),
    days: daysOf(entries),
  };
};

/**
 * The balance at the start and after the last entry of each hour. An entry dated after the month appears at its end.
 */
const chartPoints = (
  period: string,
  opening: MonthlyStatement['opening'],
  entries: readonly LedgerEntry[],
): ChartPoint[] => {
  const [start, end] = [startOfMonth(period), endOfMonth(period)];
  const hours = new Map<number, ChartPoint>();
  hours.set(0, { at: 0, available: opening.available, held: opening.held });
  for (const { occurredAt, availableAfter, heldAfter } of entries) {
    const at = (Math.min(Date.parse(occurredAt), end) - start) / HOUR_MS;
    const hour = Math.ceil(at);
    hours.set(hour, { at: hour, available: availableAfter, held: heldAfter });
  }
  return [...hours.values()];
};

const movementRow = (entry: LedgerEntry): string[] => [
  String(entry.revision),
  entry.occurredAt,
  entry.type,
  entry.postings
    .map(({ account, amount }) => `${account} ${amount > 0 ? '+' : '−'}${Math.abs(amount)}`)
    .join(', '),
  String(entry.availableAfter),
  String(entry.heldAfter),
];

const daysOf = (entries: readonly LedgerEntry[]): StatementSheet['days'] => {
  const days = new Map<string, readonly [string, number, number, number]>();
  for (const { occurredAt, postings, availableAfter, heldAfter } of entries) {
    const day = occurredAt.slice(0, 10);
    const before = days.get(day)?.[1] ?? 0;
    days.set(day, [day, before + (postings.length > 0 ? 1 : 0), availableAfter, heldAfter]);
  }
  return [...days.values()];
};
