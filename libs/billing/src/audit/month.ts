import { type KeyObject, sign, hash } from 'node:crypto';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { csvRecord } from '#platform/text/csv.js';
import { instant } from '#event-sourcing/core/clock.js';
import type { CompensatedEntry } from '../contracts/corrections.js';
import type {
  MonthBook,
  MonthNote,
  MonthProblem,
  Reconciliation,
  AccountCodes,
  MonthManifest,
  MonthSums,
  MonthItem,
} from '../contracts/audit.js';
import { byPosition } from './reconcile.js';
import { allowsSeal, keyIdOf, sealOf } from '../signatures.js';
import type { VerifiedBook } from './verify-book.js';
import { CURRENCY } from '../contracts/catalogue.js';
import { ACCOUNTS, type Accounts } from '../contracts/events.js';
import { MONEY_FIGURES, type Money } from '../contracts/messages.js';
import { endOfMonth } from '../domain/calendar.js';

/**
 * Seals the month of each verified book, and says why others have no seal. A book that was opened after the month is
 * neither. The order of the books given makes no difference. `notes`: what each seal covers and does not prevent it.
 */
export const monthOfBooks = (
  period: string,
  verified: readonly VerifiedBook[],
  compensated: readonly CompensatedEntry[],
  key: KeyObject,
): {
  books: readonly MonthBook[];
  problems: readonly MonthProblem[];
  notes: readonly MonthNote[];
} => {
  const notes: MonthNote[] = [];
  const unsigned = compensated.map(noteOf);
  const problems: MonthProblem[] = [];
  const books: MonthBook[] = [];
  for (const { verifier, opened, month } of verified.toSorted(byPosition)) {
    const report = verifier.report();
    const { workspaceId } = report;
    const finding = report.findings.find((one) => !allowsSeal(one));
    if (finding) {
      const { revision, message } = finding;
      problems.push({ workspaceId, revision, message: `does not verify: ${message}` });
    } else if (month) {
      const { closed, money, items } = month;
      const { opening, totals } = closed.data;
      books.push({ seal: sealOf(closed, money, key), opening, totals, items });
      const own = unsigned.filter((note) => note.workspaceId === workspaceId);
      for (const { revision, message } of [...report.findings, ...own])
        if (revision <= closed.revision) notes.push({ workspaceId, revision, message });
    } else if (opened <= period)
      problems.push({ workspaceId, revision: null, message: `the month ${period} is not closed` });
  }
  const byWorkspace = (a: MonthBook, b: MonthBook): number =>
    a.seal.workspaceId < b.seal.workspaceId ? -1 : 1;
  return { books: books.sort(byWorkspace), problems, notes };
};

const noteOf = ({ stream, revision, message, compensatedBy }: CompensatedEntry): MonthNote => ({
  workspaceId: streamId(stream),
  revision,
  message: `${message}; compensated by ${compensatedBy}`,
});

type Files = ReadonlyMap<string, Uint8Array>;

export const sumsOf = (books: readonly MonthBook[]): MonthSums => {
  const perAccount = (amount: (book: MonthBook, account: keyof Accounts) => number): Accounts =>
    Object.fromEntries(
      ACCOUNTS.map((account) => [account, books.reduce((sum, book) => sum + amount(book, account), 0)]),
    ) as Accounts;
  const figures = MONEY_FIGURES.map((name) => [
    name,
    books.reduce((sum, { seal }) => sum + seal.money[name], 0),
  ]);
  return {
    opening: perAccount(({ opening }, account) => opening[account]),
    debit: perAccount(({ totals }, account) => totals[account].debit),
    credit: perAccount(({ totals }, account) => totals[account].credit),
    closing: perAccount(({ seal }, account) => seal.closing[account]),
    money: { currency: CURRENCY, ...(Object.fromEntries(figures) as Omit<Money, 'currency'>) },
  };
};

/** The files of a month without its signature, by name. */
export const monthFiles = (
  period: string,
  books: readonly MonthBook[],
  reconciliation: Reconciliation,
  notes: readonly MonthNote[],
  codes: AccountCodes,
): Map<string, Uint8Array> =>
  new Map(
    Object.entries({
      'seals.jsonl': books.map(({ seal }) => `${canonicalJson(seal)}\n`).join(''),
      'trial-balance.csv': trialBalanceCsv(books),
      'money.csv': moneyCsv(books),
      'journal.csv': journalCsv(period, books, codes),
      'reconciliation.json': jsonText(reconciliation),
      'notes.json': jsonText(notes),
    }).map(([name, text]) => [name, Buffer.from(text)]),
  );

/** month.json, and its detached signature: Base64 of Ed25519 over the bytes of month.json. */
export const signedMonth = (
  period: string,
  books: readonly MonthBook[],
  { captures, completed, pending, setAside }: Reconciliation,
  notes: readonly MonthNote[],
  files: Files,
  privateKey: KeyObject,
): { manifest: MonthManifest; json: Buffer; signature: string } => {
  const { closing, money } = sumsOf(books);
  const manifest: MonthManifest = {
    format: 'credit-ledger-month/1',
    period,
    books: books.length,
    merkleRoot: merkleRoot(books.map(({ seal }) => canonicalJson(seal))),
    closing,
    money,
    reconciliation: { captures, completed, pending: pending.length, setAside: setAside.length },
    notes: notes.length,
    files: Object.fromEntries([...files].map(([name, bytes]) => [name, sha256(bytes)])),
    publicKeySha256: keyIdOf(privateKey),
  };
  const json = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  return { manifest, json, signature: sign(null, json, privateKey).toString('base64') };
};

/** One row per book and account, then the totals. Debit leaves an account, credit enters it; credits are whole. */
const trialBalanceCsv = (books: readonly MonthBook[]): string => {
  const sums = sumsOf(books);
  return [
    csvRecord(['workspace', 'account', 'opening', 'debit', 'credit', 'closing']),
    ...books.flatMap(({ seal, opening, totals }) =>
      ACCOUNTS.map((account) => {
        const { debit, credit } = totals[account];
        return csvRecord([seal.workspaceId, account, opening[account], debit, credit, seal.closing[account]]);
      }),
    ),
    ...ACCOUNTS.map((account) =>
      csvRecord([
        'total',
        account,
        sums.opening[account],
        sums.debit[account],
        sums.credit[account],
        sums.closing[account],
      ]),
    ),
  ].join('');
};

/** One row per book, in whole cents, then the total. */
const moneyCsv = (books: readonly MonthBook[]): string => {
  const row = (name: string, money: Money): string =>
    csvRecord([name, money.currency, ...MONEY_FIGURES.map((figure) => money[figure])]);
  return [
    csvRecord(['workspace', 'currency', ...MONEY_FIGURES.map((figure) => `${figure}_minor`)]),
    ...books.map(({ seal }) => row(seal.workspaceId, seal.money)),
    row('total', sumsOf(books).money),
  ].join('');
};

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
const jsonText = (value: object): string => `${JSON.stringify(value, bigintAsText, 2)}\n`;
const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

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
  [csvRecord(COLUMNS), ...books.flatMap((book) => journalRows(period, book, codes))].join('');

const journalRows = (period: string, { seal, items }: MonthBook, codes: AccountCodes): string[] => {
  const { deferred, receivable, revenue, breakage, corrections, refunds } = codes;
  const [first, last] = [`${period}-01`, instant(endOfMonth(period) - 1).slice(0, 10)];
  const { workspaceId, money } = seal;
  /** Value leaves the first account for the second one; what comes back takes the other way. */
  const sides = {
    sales: [receivable, deferred],
    earned: [deferred, revenue],
    breakage: [deferred, breakage],
    corrections: [deferred, corrections],
    refunds: [deferred, refunds],
  } as const;
  const rest = Object.entries(REST).map(([name, description]) => {
    const figure = name as keyof typeof REST;
    const own = items.filter((item) => item.figure === figure);
    const cents = own.reduce((left, item) => left - item.cents, money[figure]);
    return { figure, reference: period, at: last, cents, description };
  });
  return [...items.map((item) => ({ ...item, description: describe(item) })), ...rest]
    .filter(({ cents }) => cents !== 0)
    .flatMap(({ figure, reference, at, cents, description }, index) => {
      const [from, to] = sides[figure];
      const [debit, credit] = cents > 0 ? [from, to] : [to, from];
      const entry = [`${period}/${workspaceId}/${index + 1}`, within(first, at.slice(0, 10), last)];
      const about = [money.currency, workspaceId, reference, description];
      return [
        csvRecord([...entry, debit, Math.abs(cents), '', ...about]),
        csvRecord([...entry, credit, '', Math.abs(cents), ...about]),
      ];
    });
};

const REST = {
  earned: 'readings earned',
  breakage: 'credits expired',
  corrections: 'credits withdrawn',
};

/** An entry of its own, by its figure: when value leaves, and when it comes back. */
const ITEMS: Readonly<Record<MonthItem['figure'], readonly [leaves: string, comesBack: string]>> = {
  sales: ['$ sold', '$ sold'],
  refunds: ['$ refunded', '$ refund undone'],
  earned: ['reading refund undone', 'reading refunded'],
  breakage: ['expired again', 'expiry reversed'],
  corrections: ['credits withdrawn', 'credits restored'],
};

const describe = ({ figure, reference, cents }: MonthItem): string =>
  ITEMS[figure][cents < 0 ? 1 : 0].replace('$', reference.startsWith('plan:') ? 'plan' : 'pack');

/** A book may record an entry of its open month by a clock that is just before or after the month. */
const within = (first: string, date: string, last: string): string =>
  date < first ? first : date > last ? last : date;

const digest = (prefix: number, ...parts: readonly Uint8Array[]): Buffer =>
  Buffer.from(hash('sha256', Buffer.concat([Uint8Array.of(prefix), ...parts]), 'hex'), 'hex');

/**
 * Root of a Merkle tree over texts, lowercase hex (RFC 6962: leaves hash with 0 first, nodes with 1; SHA-256). It changes
 * with any leaf and with their order.
 */
export const merkleRoot = (leaves: readonly string[]): string => {
  if (leaves.length === 0) return hash('sha256', '', 'hex');
  return subtree(leaves.map((leaf) => digest(0, Buffer.from(leaf)))).toString('hex');
};

const subtree = (nodes: readonly Buffer[]): Buffer => {
  if (nodes.length === 1) return nodes[0]!;
  // The largest power of two below the number of nodes.
  const split = 2 ** Math.ceil(Math.log2(nodes.length) - 1);
  return digest(1, subtree(nodes.slice(0, split)), subtree(nodes.slice(split)));
};
