import { move } from 'piscina';
import { projectPath } from '#platform/project-path.js';
import { packed, loadTypstTemplate, type TypstTemplate } from '#platform/typesetting/typst.js';
import type { CustomerSheet } from './sheets.js';
import { FONTS } from './statement-pdf.js';

let template: TypstTemplate | undefined;

/** Entry point of a typesetting thread: one statement for its customer, moved instead of copied. The same sheet gives the same bytes. */
export default (sheet: CustomerSheet) => {
  template ??= loadTypstTemplate(
    projectPath('libs/billing/src/statement-pdf/template'),
    'customer.typ',
    FONTS,
  );
  return move(Uint8Array.from(packed(template.pdf({ statement: JSON.stringify(sheet) }))));
};
