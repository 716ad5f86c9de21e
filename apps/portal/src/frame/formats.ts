import type { PortalLanguage } from '#workspaces/contracts/index.js';

const LOCALES: Readonly<Record<PortalLanguage, string>> = { fr: 'fr-FR', en: 'en-US' };

/** How a language writes numbers, and times with their zone: a clock may show an hour twice. Instants are RFC 3339. */
export interface Formats {
  readonly number: (value: number) => string;
  readonly time: (instant: string) => string;
  /** Of something known to the hour. */
  readonly hour: (instant: string) => string;
  readonly day: (instant: string) => string;
  /** A day without a zone, such as a date of birth, `yyyy-mm-dd`. */
  readonly date: (date: string) => string;
  /** `yyyy-mm`. */
  readonly month: (month: string) => string;
  /** A number of days, such as “1 day”. */
  readonly days: (count: number) => string;
  /** How long until an instant, such as “in 23 hours”. */
  readonly left: (instant: string) => string;
  /** Of a share from 0 to 1. */
  readonly percent: (share: number) => string;
  /** For a tooltip. */
  readonly utc: (instant: string) => string;
}

const MINUTE_MS = 60_000;

export const formatsOf = (language: PortalLanguage, timeZone: string): Formats => {
  const locale = LOCALES[language];
  const number = new Intl.NumberFormat(locale);
  const days = new Intl.NumberFormat(locale, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  const percent = new Intl.NumberFormat(locale, { style: 'percent' });
  const relative = new Intl.RelativeTimeFormat(locale);
  const written = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone, ...options });
    return (instant: string) => format.format(new Date(instant));
  };
  const date = written({ dateStyle: 'long', timeZone: 'UTC' });
  return {
    left: (instant) => {
      const minutes = Math.ceil((Date.parse(instant) - Date.now()) / MINUTE_MS);
      return minutes < 120
        ? relative.format(minutes, 'minute')
        : relative.format(Math.round(minutes / 60), 'hour');
    },
    percent: (share) => percent.format(share),
    number: (value) => number.format(value),
    time: written({ dateStyle: 'medium', timeStyle: 'long' }),
    hour: written({ dateStyle: 'medium', timeStyle: 'short' }),
    day: written({ dateStyle: 'medium' }),
    date: (text) => (language === 'fr' ? date(text).replace(/^1 /, '1er ') : date(text)),
    month: written({ month: 'long', year: 'numeric', timeZone: 'UTC' }),
    days: (count) => days.format(count),
    utc: (instant) => `${instant.slice(0, 19).replace('T', ' ')} UTC`,
  };
};
