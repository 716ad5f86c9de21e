import { projectPath } from '#platform/project-path.js';
import { loadTypstTemplate } from '#platform/typesetting/typst.js';
import { sumsOf } from '../audit/month-files.js';
import { ACCOUNTS } from '../contracts/events.js';
import { MONEY_FIGURES } from '../contracts/money.js';
import type { MonthBook } from '../contracts/month.js';
import { endOfMonth } from '../domain/credits/calendar.js';
import { FONTS } from './statement-pdf.js';

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
