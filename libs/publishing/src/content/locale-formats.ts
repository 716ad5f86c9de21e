import type { Locale } from '../document/document.js';

const NBSP = '\u00A0';

/**
 * A calendar date in words: « 1er juin 1990 », "June 1, 1990".
 * @param date `YYYY-MM-DD`, read as a day without a time zone
 */
export const formatDate = (locale: Locale, date: string): string => {
  const words = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(`${date}T00:00:00Z`));
  // CLDR prints « 1 janvier », which no French reader writes. In both languages the day and its month stay together.
  return locale === 'fr-FR'
    ? words.replace(/^1 /, '1er ').replace(' ', NBSP)
    : words.replace(' ', NBSP);
};

/** « 3, 6 et 8 », "3, 6, and 8". */
export const formatList = (locale: Locale, items: readonly string[]): string =>
  new Intl.ListFormat(locale, { type: 'conjunction' }).format(items);

/** A weight in halves, without a trailing zero: « 6,5 », "6.5". */
export const formatNumber = (locale: Locale, value: number): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false }).format(value);

const ENGLISH_SUFFIX: Record<string, string> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };

/** « 32e », « 1er » (of a birthday), "32nd". */
export const formatOrdinal = (locale: Locale, value: number): string => {
  if (locale === 'fr-FR') return value === 1 ? '1er' : `${value}e`;
  const category = new Intl.PluralRules('en-US', { type: 'ordinal' }).select(value);
  return `${value}${ENGLISH_SUFFIX[category] ?? 'th'}`;
};
