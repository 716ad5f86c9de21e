import type { Locale } from '../document/document.js';

const NBSP = '\u00A0';

/** Building an Intl object costs far more than using it, so each language has its own, made once. */
const formatsOf = (locale: Locale) => ({
  date: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }),
  month: new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' }),
  list: new Intl.ListFormat(locale, { type: 'conjunction' }),
  number: new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false }),
});

const FORMATS = { 'fr-FR': formatsOf('fr-FR'), 'en-US': formatsOf('en-US') };

/**
 * A calendar date in words: « 1er juin 1990 », "June 1, 1990".
 * @param date `YYYY-MM-DD`, read as a day without a time zone
 */
export const formatDate = (locale: Locale, date: string): string => {
  const words = FORMATS[locale].date.format(new Date(`${date}T00:00:00Z`));
  // CLDR prints « 1 janvier », which no French reader writes. In both languages the day and its month stay together.
  return (locale === 'fr-FR' ? words.replace(/^1 /, '1er ') : words).replace(' ', NBSP);
};

/** The name of a calendar month (1–12) at the head of a line: « Mai », "May". */
export const formatMonth = (locale: Locale, month: number): string => {
  const name = FORMATS[locale].month.format(new Date(Date.UTC(2000, month - 1, 1)));
  return name.charAt(0).toLocaleUpperCase(locale) + name.slice(1);
};

/** « 3, 6 et 8 », "3, 6, and 8". */
export const formatList = (locale: Locale, items: readonly string[]): string =>
  FORMATS[locale].list.format(items);

/** A weight in halves, without a trailing zero: « 6,5 », "6.5". */
export const formatNumber = (locale: Locale, value: number): string => FORMATS[locale].number.format(value);

const ENGLISH_ORDINALS = new Intl.PluralRules('en-US', { type: 'ordinal' });
const ENGLISH_SUFFIX: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** « 32e », « 1er » (of a birthday), "32nd". */
export const formatOrdinal = (locale: Locale, value: number): string => {
  if (locale === 'fr-FR') return value === 1 ? '1er' : `${value}e`;
  return `${value}${ENGLISH_SUFFIX[ENGLISH_ORDINALS.select(value)] ?? 'th'}`;
};
