import type { PortalLanguage } from '#workspaces/contracts/index.js';

const LOCALES: Readonly<Record<PortalLanguage, string>> = { fr: 'fr-FR', en: 'en-US' };

const MINUTE_MS = 60_000;

/** How a language writes numbers, and times with their zone: a clock may show an hour twice. Instants are RFC 3339. */
export const formatsOf = (language: PortalLanguage, timeZone: string) => {
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
    /** How long until an instant, such as “in 23 hours”. */
    left: (instant: string) => {
      const minutes = Math.ceil((Date.parse(instant) - Date.now()) / MINUTE_MS);
      return minutes < 120
        ? relative.format(minutes, 'minute')
        : relative.format(Math.round(minutes / 60), 'hour');
    },
    /** Of a share from 0 to 1. */
    percent: (share: number) => percent.format(share),
    number: (value: number) => number.format(value),
    time: written({ dateStyle: 'medium', timeStyle: 'long' }),
    /** Of something known to the hour. */
    hour: written({ dateStyle: 'medium', timeStyle: 'short' }),
    day: written({ dateStyle: 'medium' }),
    /** A day without a zone, such as a date of birth, `yyyy-mm-dd`. */
    date: (text: string) => (language === 'fr' ? date(text).replace(/^1 /, '1er ') : date(text)),
    /** `yyyy-mm`. */
    month: written({ month: 'long', year: 'numeric', timeZone: 'UTC' }),
    /** A number of days, such as “1 day”. */
    days: (count: number) => days.format(count),
    /** For a tooltip. */
    utc: (instant: string) => `${instant.slice(0, 19).replace('T', ' ')} UTC`,
  };
};
export type Formats = ReturnType<typeof formatsOf>;
