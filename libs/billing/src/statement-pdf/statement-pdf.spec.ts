import { beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { loadTypstTemplate } from '#platform/typesetting/typst.js';
import { TypesetCustomerStatementHandler } from '../application/statements.js';
import { statementOf } from '../audit/statement.js';
import { TypesetCustomerStatement, type MonthlyStatement } from '../contracts/index.js';
import { eventfulBook, STREAM, WS, type TestBook } from '../../test/book.js';
import { customerSheetOf, MOST_PRINTED } from './sheets.js';
import { FONTS } from './statement-pdf.js';

let book: TestBook;
let april: MonthlyStatement;
beforeAll(async () => {
  book = await eventfulBook();
  april = (await statementOf(WS, '2026-04', book.store.read(STREAM)))!;
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

  it('is PDF/UA in the language asked for, whatever letters the name has; nothing when nothing is recorded', async () => {
    const handler = new TypesetCustomerStatementHandler(book.store);
    const asked = (month: string, language: 'fr' | 'en') =>
      handler.execute(new TypesetCustomerStatement(WS, month, { ...print, language }));
    const [french, again, english] = await Promise.all([
      asked('2026-04', 'fr'),
      asked('2026-04', 'fr'),
      asked('2026-04', 'en'),
    ]);
    expect('pdf' in french && Buffer.from(french.pdf).toString('latin1', 0, 5)).toBe('%PDF-');
    const template = loadTypstTemplate(
      projectPath('libs/billing/src/statement-pdf/template'),
      'customer.typ',
      FONTS,
    );
    // A letter that no font has would take the claim away.
    const sheet = customerSheetOf(april, { ...print, workspaceName: 'Atelier' });
    const plain = template.pdf({ statement: JSON.stringify(sheet) });
    expect(Buffer.from(plain).toString('latin1')).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(again).toEqual(french);
    expect(english).not.toEqual(french);
    expect(await asked('2026-01', 'fr')).toEqual({ outcome: 'none' });
    await handler.onApplicationShutdown();
  });
});
