import type { MonthlyStatement, GrantMovement } from '../contracts/audit.js';
import type { Account, CreditsEvent } from '../contracts/events.js';
import type { LedgerEntry, GrantSummary } from '../contracts/messages.js';
import { startOfMonth } from '../domain/calendar.js';
import { CURRENCY } from '../contracts/catalogue.js';
import { type StatementPrint, STATEMENT_WORDS, type StatementWords } from '../contracts/statement.js';

const change = ({ postings }: LedgerEntry, name: Account): number =>
  postings.reduce((sum, { account, amount }) => (account === name ? sum + amount : sum), 0);

/** 1234567 as 1 234 567, with a proper minus and spaces that do not break. */
const grouped = (credits: number): string =>
  String(credits)
    .replace('-', '−')
    .replace(/\B(?=(\d{3})+$)/g, '\u202f');

/** The days on which something was recorded, with what an entry moved in sum: day, movements, consumed, expired, left. */
const daysOf = (
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

/** Most movements printed one by one: some sixty pages, 3 s of CPU. A busier month is summed up by day; its CSV file has all. */
export const MOST_PRINTED = 2_000;

interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | readonly [text: string, details: string])[])[];
  /** Above the table. */
  readonly hint?: string;
}

/** What the template prints: texts in the reader's language. */
export type CustomerSheet = ReturnType<typeof customerSheetOf>;

export const customerSheetOf = (statement: MonthlyStatement, print: StatementPrint) => {
  const { workspaceId, period, entries, opening, closing, closed, chain, grants } = statement;
  const words = STATEMENT_WORDS[print.language];
  const last = entries.at(-1)!;
  return {
    locale: words.locale,
    paper: print.paper,
    title: words.title(monthName(period, words.locale)),
    about: `${print.workspaceName ?? workspaceId}, ${period}`,
    asOf: entries.findLast(({ unreadable }) => unreadable === undefined)?.occurredAt ?? startOf(period),
    name: print.workspaceName ?? workspaceId,
    facts: [
      [words.workspace, workspaceId],
      [words.month, period],
      [words.state, closed ? words.closed : words.open],
      [words.opening, grouped(opening.available)],
      [words.closing, grouped(closing.available)],
      [words.heldAtEnd, grouped(closing.held)],
      [words.lastEntry, `${last.revision} · ${seconds(last.occurredAt)}`],
      ...(chain === null ? [] : [[words.chain, chain] as const]),
    ],
    hints: [words.chainHint, words.units],
    overview: words.overview,
    summary: summaryOf(statement, words),
    tables: [...(grants.length > 0 ? [grantsOf(grants, words)] : []), movementsOf(entries, words)],
  };
};

const startOf = (period: string): string => new Date(startOfMonth(period)).toISOString();
const seconds = (instant: string): string => instant.slice(0, 19).replace('T', ' ');
const price = (cents: number, locale: string): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: CURRENCY, currencyDisplay: 'code' }).format(
    cents / 100,
  );

const monthName = (period: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    startOfMonth(period),
  );

const summaryOf = ({ totals }: MonthlyStatement, { summary }: StatementWords): string =>
  summary(
    grouped(totals['issued:plan'].debit + totals['issued:pack'].debit + totals.adjusted.debit),
    grouped(totals.consumed.credit),
    grouped(totals.expired.credit),
    grouped(totals.adjusted.credit),
  );

/** At the start + granted − to readings − expired − withdrawn = left. */
const grantsOf = (grants: readonly GrantMovement[], words: StatementWords): Table => ({
  title: words.grants,
  head: [
    words.grant,
    words.price,
    words.atStart,
    words.granted,
    words.taken,
    words.expired,
    words.withdrawn,
    words.left,
  ],
  rows: grants.map((one) => {
    const [kind, ...name] = one.grantId.split(':');
    return [
      [words.grantKinds[kind as GrantSummary['kind']], name.join(' ')],
      price(one.priceCents, words.locale),
      ...[one.opening, one.granted, one.reserved - one.released, one.expired, one.removed, one.closing].map(
        grouped,
      ),
    ];
  }),
});

const movementsOf = (entries: readonly LedgerEntry[], words: StatementWords): Table => {
  if (entries.length > MOST_PRINTED)
    return {
      title: words.byDay,
      hint: words.tooMany,
      head: [words.day, words.movements, words.used, words.expired, words.availableAfter, words.heldAfter],
      rows: daysOf(entries.filter(({ unreadable }) => unreadable === undefined)).map(([day, ...counts]) => [
        day,
        ...counts.map(grouped),
      ]),
    };
  return {
    title: words.movements,
    ...(entries.every(({ postings }) => postings.length === 0) && { hint: words.noMovements }),
    head: [
      words.movement,
      words.entry,
      words.when,
      words.available,
      words.held,
      words.availableAfter,
      words.heldAfter,
    ],
    rows: entries.map((one) => [
      [words.movementKinds[one.type as CreditsEvent['type']] ?? one.type, detailsOf(one, words)],
      String(one.revision),
      seconds(one.occurredAt),
      ...[change(one, 'available'), change(one, 'held')].map((moved) => (moved === 0 ? '' : grouped(moved))),
      grouped(one.availableAfter),
      grouped(one.heldAfter),
    ]),
  };
};

const detailsOf = (one: LedgerEntry, words: StatementWords): string =>
  [
    one.readingId && `${words.reading} ${one.readingId}`,
    one.reference && `${words.reference} ${one.reference}`,
    one.priceCents === null ? null : price(one.priceCents, words.locale),
    one.unreadable === undefined ? null : words.unreadable,
  ]
    .filter((part) => part)
    .join(', ');
