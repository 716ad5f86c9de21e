import { instant } from '@app/event-sourcing/core/clock.js';
import { endOfMonth } from '../domain/credits/calendar.js';
import type { AccountCodes, MonthBook } from '../contracts/month.js';
import { csvRecord } from '@app/platform/text/csv.js';

interface Entry {
  /** `yyyy-mm-dd`. */
  readonly date: string;
  readonly debit: string;
  readonly credit: string;
  /** Whole minor units. */
  readonly minor: number;
  readonly reference: string;
  readonly description: string;
}

const COLUMNS = [
  'entry',
  'date',
  'account',
  'debit_minor',
  'credit_minor',
  'currency',
  'workspace',
  'reference',
  'description',
];

/**
 * The month as journal entries of double entry, two rows each. A sale defers its price; a reading earns, an expiry
 * breaks, and a correction withdraws the value of the credits it uses. A book has one entry a month for each of these.
 */
export const journalCsv = (period: string, books: readonly MonthBook[], codes: AccountCodes): string =>
  [
    csvRecord(COLUMNS),
    ...books.flatMap((book) =>
      entriesOf(period, book, codes).flatMap((entry, index) => rows(book, entry, index + 1)),
    ),
  ].join('');

const entriesOf = (period: string, { seal, sales }: MonthBook, codes: AccountCodes): Entry[] => {
  const { deferred, receivable, revenue, breakage, corrections } = codes;
  const [first, date] = [`${period}-01`, instant(endOfMonth(period) - 1).slice(0, 10)];
  const used = (credit: string, minor: number, description: string): Entry[] =>
    minor <= 0 ? [] : [{ date, debit: deferred, credit, minor, reference: period, description }];
  const { corrections: withdrawn } = seal.money;
  return [
    ...sales
      .filter(({ cents }) => cents > 0)
      .map(({ grantId, kind, at, cents }) => ({
        date: within(first, at.slice(0, 10), date),
        debit: receivable,
        credit: deferred,
        minor: cents,
        reference: grantId,
        description: kind === 'plan' ? 'plan sold' : 'pack sold',
      })),
    ...used(revenue, seal.money.earned, 'readings earned'),
    ...used(breakage, seal.money.breakage, 'credits expired'),
    ...used(corrections, withdrawn, 'credits withdrawn'),
    // Undone refunds brought back more than other corrections withdrew.
    ...(withdrawn < 0
      ? used(corrections, -withdrawn, 'credits restored').map((entry) => ({
          ...entry,
          debit: corrections,
          credit: deferred,
        }))
      : []),
  ];
};

/** A book may record an entry of its open month by a clock that is just before or after the month. */
const within = (first: string, date: string, last: string): string =>
  date < first ? first : date > last ? last : date;

const rows = ({ seal }: MonthBook, entry: Entry, number: number): string[] => {
  const { workspaceId, period, money } = seal;
  const row = (account: string, debit: number | '', credit: number | ''): string =>
    csvRecord([
      `${period}/${workspaceId}/${number}`,
      entry.date,
      account,
      debit,
      credit,
      money.currency,
      workspaceId,
      entry.reference,
      entry.description,
    ]);
  return [row(entry.debit, entry.minor, ''), row(entry.credit, '', entry.minor)];
};
