import type { MonthlyStatement } from '../contracts/audit.js';
import type { Account } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/queries.js';
import { endOfMonth, startOfMonth } from '../domain/credits/calendar.js';

const DAY_MS = 86_400_000;

/** Credits of one day of the month. */
export interface ChartDay {
  readonly consumed: number;
  readonly expired: number;
  /** Left at the end of the day. */
  readonly available: number;
}

export const change = ({ postings }: LedgerEntry, name: Account): number =>
  postings.reduce((sum, { account, amount }) => (account === name ? sum + amount : sum), 0);

/** 1234567 as 1 234 567, with a proper minus and spaces that do not break. */
export const grouped = (credits: number): string =>
  String(credits)
    .replace('-', '−')
    .replace(/\B(?=(\d{3})+$)/g, '\u202f');

/** One for each day of the month. An entry dated after the month counts on its last day. */
export const chartDays = ({ period, opening, entries }: MonthlyStatement): ChartDay[] => {
  const count = (endOfMonth(period) - startOfMonth(period)) / DAY_MS;
  const days = Array.from({ length: count }, () => ({ consumed: 0, expired: 0, available: -1 }));
  for (const entry of entries) {
    if (entry.unreadable !== undefined) continue;
    const at = Math.floor((Date.parse(entry.occurredAt) - startOfMonth(period)) / DAY_MS);
    const day = days[Math.min(Math.max(at, 0), count - 1)]!;
    day.consumed += change(entry, 'consumed');
    day.expired += change(entry, 'expired');
    day.available = entry.availableAfter;
  }
  let left = opening.available;
  return days.map((day) => {
    left = day.available < 0 ? left : day.available;
    return { ...day, available: left };
  });
};

/** The days on which something was recorded, with what an entry moved in sum: day, movements, consumed, expired, left. */
export const daysOf = (
  entries: readonly LedgerEntry[],
): readonly (readonly [
  day: string,
  movements: number,
  consumed: number,
  expired: number,
  available: number,
  held: number,
])[] => {
  const days = new Map<string, readonly [string, number, number, number, number, number]>();
  for (const entry of entries) {
    const day = entry.occurredAt.slice(0, 10);
    const [, movements, consumed, expired] = days.get(day) ?? [day, 0, 0, 0];
    days.set(day, [
      day,
      movements + (entry.postings.length > 0 ? 1 : 0),
      consumed + change(entry, 'consumed'),
      expired + change(entry, 'expired'),
      entry.availableAfter,
      entry.heldAfter,
    ]);
  }
  return [...days.values()];
};
