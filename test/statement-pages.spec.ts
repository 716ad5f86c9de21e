import { expect, it } from '@jest/globals';
import { statementOf } from '#billing/audit/statement.js';
import { customerSheetOf } from '#billing/statement-pdf/sheets.js';
import { FONTS } from '#billing/statement-pdf/statement-pdf.js';
import { projectPath } from '#platform/project-path.js';
import { loadTypstTemplate } from '#platform/typesetting/typst.js';
import { readPages } from '#publishing/pdf/testing/laid-out.js';
import { overfull, overlaps } from '#publishing/pdf/testing/page-faults.js';
import { eventfulBook, STREAM, WS } from '../libs/billing/test/book.js';

const MARGIN = (20 / 25.4) * 72;
const UNBROKEN = 'W'.repeat(120);

it('References, names and reasons that no line can break stay in their cells on a statement', async () => {
  const { store } = await eventfulBook();
  const april = (await statementOf(WS, '2026-04', store.read(STREAM)))!;
  const statement = {
    ...april,
    entries: april.entries.map((one) => ({ ...one, reference: UNBROKEN, reason: UNBROKEN })),
    grants: april.grants.map((one) => ({ ...one, grantId: `pack:${UNBROKEN}` })),
  };
  const sheet = customerSheetOf(statement, { language: 'en', paper: 'a4', workspaceName: UNBROKEN });
  const template = projectPath('libs/billing/src/statement-pdf/template');
  const pdf = loadTypstTemplate(template, 'customer.typ', FONTS).pdf({ statement: JSON.stringify(sheet) });
  const faults = readPages(pdf).flatMap((page) => [
    ...overlaps(page),
    ...overfull(page, { left: MARGIN, right: page.width - MARGIN }),
  ]);
  expect(faults).toEqual([]);
});
