import { instant } from '#event-sourcing/core/clock.js';

/** Months are `yyyy-mm` in UTC. Instants are milliseconds, unless they are strings. */
export const monthOf = (at: number): string => instant(at).slice(0, 7);

const parts = (month: string): { year: number; index: number } => ({
  year: Number(month.slice(0, 4)),
  index: Number(month.slice(5, 7)) - 1,
});

export const monthAfter = (month: string): string => monthOf(endOfMonth(month));

export const monthBefore = (month: string): string => monthOf(startOfMonth(month) - 1);

export const startOfMonth = (month: string): number => Date.UTC(parts(month).year, parts(month).index, 1);

/** The first instant after the month. */
export const endOfMonth = (month: string): number => Date.UTC(parts(month).year, parts(month).index + 1, 1);

/** Midnight UTC of the anchor day in the month after the given instant; the last day when that month is shorter. */
export const nextAnchor = (at: number, anchorDay: number): number => {
  const { year, index } = parts(monthOf(at));
  const lastDay = new Date(Date.UTC(year, index + 2, 0)).getUTCDate();
  return Date.UTC(year, index + 1, Math.min(anchorDay, lastDay));
};
