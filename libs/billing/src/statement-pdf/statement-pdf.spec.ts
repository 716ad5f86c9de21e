import { beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { TypesetStatementHandler, TypesetCustomerStatementHandler } from '../application/statements.js';
import { statementOf } from '../audit/statement.js';
import {
  TypesetCustomerStatement,
  TypesetMonthlyStatement,
  type MonthlyStatement,
} from '../contracts/index.js';
import { eventfulBook, STREAM, WS, type TestBook } from '../../test/book.js';
import { MOST_MOVEMENTS, sheetOf, customerSheetOf, MOST_PRINTED } from './sheets.js';
import { statementPdf } from './statement-pdf.js';

let book: TestBook;
let april: MonthlyStatement;
beforeAll(async () => {
  book = await eventfulBook();
  april = (await statementOf(WS, '2026-04', book.store.read(STREAM), 10_000))!;
});

describe('a statement to print', () => {
  it('has every movement, and the balance through the month', () => {
    const { accounts, chart, movements, status } = sheetOf(april, 'Atelier Lumière');
    expect(movements).toHaveLength(april.entries.length);
    expect(accounts.find(([name]) => name === 'available')).toEqual([
      'available',
      0,
      april.totals.available.debit,
      april.totals.available.credit,
      april.closing.available,
    ]);
    expect(chart.days).toHaveLength(30);
    expect(chart.days[8]).toEqual({ consumed: 0, expired: 0, available: 0 });
    expect(chart.days[11]).toEqual({ consumed: 20, expired: 0, available: 430 });
    expect(chart.days.at(-1)!.available).toBe(april.closing.available);
    expect(chart.alt).toContain(`${april.closing.available} at the end`);
    expect(chart.alt).toContain('readings used 20, most on day 12 (20)');
    expect(chart.alt).toContain(`corrections withdrew ${april.totals.adjusted.credit}, and`);
    expect(movements!.map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        'reading reading-r1',
        'reference +INV-1, price 29.00 USD, by operator:ada',
        expect.stringContaining('reference INC-42, -5 because, by operator:ada'),
      ]),
    );
    expect(status).toMatch(/^closed by event .* at revision \d+$/);
  });

  it('prints what a reader must know of dates that a wrong clock gave', () => {
    const notes = ['2 entries have dates after the time at which the store recorded them: a clock was wrong'];
    const sheet = sheetOf({ ...april, notes }, null);
    expect(sheet.notes).toEqual([
      '2 entries have dates after the time at which the store recorded them: a clock was wrong.',
    ]);
    // One more section, so the file is another one.
    const [plain, noted] = [april, { ...april, notes }].map((one) => statementPdf(one, null).length);
    expect(noted).toBeGreaterThan(plain!);
  });

  it('sums up the days of a month with too many movements', () => {
    const entries = Array.from({ length: MOST_MOVEMENTS + 1 }, () => april.entries[1]!);
    const { movements, days, chart } = sheetOf({ ...april, entries }, null);
    expect(movements).toBeNull();
    expect(days).toHaveLength(1);
    expect(chart.days).toHaveLength(30);
  });

  it('is a PDF/UA file, the same bytes each time; nothing when nothing is recorded', async () => {
    const handler = new TypesetStatementHandler(book.store, { CLOCK_REFUSE_MS: 10_000 });
    const pdf = (await handler.execute(new TypesetMonthlyStatement(WS, '2026-04')))!;
    const source = Buffer.from(pdf).toString('latin1');
    expect(source.slice(0, 5)).toBe('%PDF-');
    expect(source).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(source).toContain('/Alt ');
    expect(await handler.execute(new TypesetMonthlyStatement(WS, '2026-04'))).toEqual(pdf);
    expect(await handler.execute(new TypesetMonthlyStatement(WS, '2026-01'))).toBeNull();
    if (process.env['KEEP_PDF']) writeFileSync(process.env['KEEP_PDF'], pdf);
  });
});

describe('a statement for its customer', () => {
  const print = { language: 'fr', paper: 'a4', workspaceName: 'Atelier 株' } as const;

  it('has every movement, and nothing of operators, reasons and the accounts of the provider', () => {
    const sheet = customerSheetOf(april, print);
    const text = JSON.stringify(sheet);
    expect(sheet.title).toBe('Relevé de crédits, avril 2026');
    expect(sheet.tables.at(-1)!.rows).toHaveLength(april.entries.length);
    expect(sheet.facts).toContainEqual(['Disponibles à la fin', String(april.closing.available)]);
    expect(sheet.facts).toContainEqual(['Valeur de chaîne', book.events[10]!.metadata.chain]);
    expect(text).toContain('lecture reading-r1');
    expect(text).toContain('référence +INV-1, 29,00 USD');
    expect(text).not.toMatch(/operator|because|HYPERLINK|ada/);
  });

  it('has the grants of which each row adds up', () => {
    const [grants] = customerSheetOf(april, print).tables;
    expect(grants!.rows).toHaveLength(april.grants.length);
    for (const row of grants!.rows) {
      const [start, granted, taken, expired, withdrawn, left] = row.slice(2).map(Number);
      expect(start! + granted! - taken! - expired! - withdrawn!).toBe(left);
    }
  });

  it('sums up the days of a month with too many movements', () => {
    const entries = Array.from({ length: MOST_PRINTED + 1 }, () => april.entries[1]!);
    const table = customerSheetOf({ ...april, entries }, print).tables.at(-1)!;
    expect([table.title, table.rows.length]).toEqual(['Mouvements par jour', 1]);
  });

  it('is a PDF in the language asked for, whatever letters the name has; nothing when nothing is recorded', async () => {
    const handler = new TypesetCustomerStatementHandler(book.store, { CLOCK_REFUSE_MS: 10_000 });
    const asked = (month: string, language: 'fr' | 'en') =>
      handler.execute(new TypesetCustomerStatement(WS, month, { ...print, language }));
    const [french, again, english] = await Promise.all([
      asked('2026-04', 'fr'),
      asked('2026-04', 'fr'),
      asked('2026-04', 'en'),
    ]);
    expect('pdf' in french && Buffer.from(french.pdf).toString('latin1', 0, 5)).toBe('%PDF-');
    expect(again).toEqual(french);
    expect(english).not.toEqual(french);
    expect(await asked('2026-01', 'fr')).toEqual({ outcome: 'none' });
    await handler.onApplicationShutdown();
  });
});
