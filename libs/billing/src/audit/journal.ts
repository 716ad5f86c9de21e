import { instant } from '#event-sourcing/core/clock.js';
import { endOfMonth } from '../domain/credits/calendar.js';
import type { AccountCodes, MonthBook, MonthItem } from '../contracts/month.js';
import { csvRecord } from '#platform/text/csv.js';

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
 * The month as journal entries of double entry, two rows each. Each sale and each reversal is an entry of its own, which
 * names what it is of. The rest of each figure is one entry a book and month.
 */
export const journalCsv = (period: string, books: readonly MonthBook[], codes: AccountCodes): string =>
  [
    csvRecord(COLUMNS),
    ...books.flatMap((book) =>
      entriesOf(period, book, codes).flatMap((entry, index) => rows(book, entry, index + 1)),
    ),
  ].join('');

const entriesOf = (period: string, { seal, items }: MonthBook, codes: AccountCodes): Entry[] => {
  const { deferred, receivable, revenue, breakage, corrections, refunds } = codes;
  const [first, last] = [`${period}-01`, instant(endOfMonth(period) - 1).slice(0, 10)];
  /** Value leaves the first account for the second one; what comes back takes the other way. */
  const sides = {
    sales: [receivable, deferred],
    earned: [deferred, revenue],
    breakage: [deferred, breakage],
    corrections: [deferred, corrections],
    refunds: [deferred, refunds],
  } as const;
  const rest = (['earned', 'breakage', 'corrections'] as const).map((figure) => {
    const own = items.filter((item) => item.figure === figure);
    const cents = own.reduce((left, item) => left - item.cents, seal.money[figure]);
    return { figure, reference: period, at: last, cents, description: REST[figure] };
  });
  return [...items.map((item) => ({ ...item, description: describe(item) })), ...rest]
    .filter(({ cents }) => cents !== 0)
    .map(({ figure, reference, at, cents, description }) => {
      const [from, to] = sides[figure];
      const [debit, credit] = cents > 0 ? [from, to] : [to, from];
      const date = within(first, at.slice(0, 10), last);
      return { date, debit, credit, minor: Math.abs(cents), reference, description };
    });
};

const REST = {
  earned: 'readings earned',
  breakage: 'credits expired',
  corrections: 'credits withdrawn',
};

const describe = ({ figure, reference, cents }: MonthItem): string => {
  const sold = reference.startsWith('plan:') ? 'plan' : 'pack';
  const isBack = cents < 0;
  switch (figure) {
    case 'sales':
      return `${sold} sold`;
    case 'refunds':
      return isBack ? `${sold} refund undone` : `${sold} refunded`;
    case 'earned':
      return isBack ? 'reading refunded' : 'reading refund undone';
    case 'breakage':
      return isBack ? 'expiry reversed' : 'expired again';
    case 'corrections':
      return isBack ? 'credits restored' : 'credits withdrawn';
  }
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
