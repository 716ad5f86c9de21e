import type { Locale } from '../document/document.js';

const NBSP = '\u00A0';
const ENGLISH_SUFFIX: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** How a language writes what no author does. Building an Intl object costs far more than using it. */
const formatsOf = (locale: Locale) => {
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  const months = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' });
  const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false });
  const ordinals = new Intl.PluralRules(locale, { type: 'ordinal' });
  return {
    /** A calendar date, `YYYY-MM-DD` without a time zone, in words: « 1er juin 1990 », "June 1, 1990". */
    date: (date: string): string => {
      const words = dates.format(new Date(`${date}T00:00:00Z`));
      // CLDR prints « 1 janvier », which no French reader writes. In both languages the day and its month stay together.
      return (locale === 'fr-FR' ? words.replace(/^1 /, '1er ') : words).replace(' ', NBSP);
    },
    /** The name of a calendar month (1–12) at the head of a line: « Mai », "May". */
    month: (month: number): string => {
      const name = months.format(new Date(Date.UTC(2000, month - 1, 1)));
      return name.charAt(0).toLocaleUpperCase(locale) + name.slice(1);
    },
    /** « 3, 6 et 8 », "3, 6, and 8" */
    list: (items: readonly string[]): string => lists.format(items),
    /** A weight in halves, without a trailing zero: « 6,5 », "6.5" */
    amount: (value: number): string => numbers.format(value),
    /** « 32e », « 1er » (of a birthday), "32nd" */
    ordinal: (value: number): string => {
      if (locale === 'fr-FR') return value === 1 ? '1er' : `${value}e`;
      return `${value}${ENGLISH_SUFFIX[ordinals.select(value)] ?? 'th'}`;
    },
  };
};

export const FORMATS = { 'fr-FR': formatsOf('fr-FR'), 'en-US': formatsOf('en-US') };
