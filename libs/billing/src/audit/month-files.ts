import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { Reconciliation } from '../contracts/audit.js';
import { CURRENCY } from '../contracts/catalogue.js';
import { ACCOUNTS, type Accounts } from '../contracts/events.js';
import { MONEY_FIGURES, type Money } from '../contracts/money.js';
import type { AccountCodes, MonthBook, MonthManifest, MonthNote, MonthSums } from '../contracts/month.js';
import { csvRecord } from '#platform/text/csv.js';
import { journalCsv } from './journal.js';
import { merkleRoot } from './merkle.js';

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
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
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
    publicKeySha256: sha256(publicKey),
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

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const jsonText = (value: object): string => `${JSON.stringify(value, bigintAsText, 2)}\n`;
const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
