import { projectPath } from '#platform/project-path.js';
import { loadTypstTemplate } from '#platform/typesetting/typst.js';
import type { MonthBook } from '../contracts/audit.js';
import { sumsOf } from '../audit/month.js';
import { ACCOUNTS } from '../contracts/events.js';
import { MONEY_FIGURES } from '../contracts/messages.js';
import { endOfMonth } from '../domain/calendar.js';

/** Those of the documents, in packages. */
export const FONTS = [
  'source-serif-4/300Light/SourceSerif4_300Light',
  'source-serif-4/600SemiBold/SourceSerif4_600SemiBold',
  'source-sans-3/400Regular/SourceSans3_400Regular',
  'source-sans-3/600SemiBold/SourceSans3_600SemiBold',
].map((face) => `@expo-google-fonts/${face}.ttf`);

/** Books listed one by one. With more, the CSV lists them. */
const MOST_BOOKS = 500;

/** The trial balance of all books of a month as PDF/UA-1. The same books give the same bytes. */
export const monthPdf = (period: string, books: readonly MonthBook[]): Uint8Array => {
  const { opening, debit, credit, closing, money } = sumsOf(books);
  const month = {
    period,
    books: books.length,
    currency: money.currency,
    asOf: new Date(endOfMonth(period)).toISOString(),
    accounts: ACCOUNTS.map((name) => [name, opening[name], debit[name], credit[name], closing[name]]),
    money: MONEY_FIGURES.map((name) => money[name]),
    rows: books
      .slice(0, MOST_BOOKS)
      .map(({ seal }) => [seal.workspaceId, ...MONEY_FIGURES.map((name) => seal.money[name])]),
  };
  return loadTypstTemplate(projectPath('libs/billing/src/statement-pdf/template'), 'month.typ', FONTS).pdf({
    month: JSON.stringify(month),
  });
};
