import { projectPath } from '@app/platform/project-path.js';
import { loadTypstTemplate } from '@app/platform/typesetting/typst.js';
import type { MonthlyStatement } from '../contracts/audit.js';
import { sheetOf } from './sheet.js';

export const FONTS = ['400Regular/SourceSans3_400Regular', '600SemiBold/SourceSans3_600SemiBold'].map(
  (face) => `@expo-google-fonts/source-sans-3/${face}.ttf`,
);

/**
 * A monthly statement as PDF/UA-1: accounts, a chart of the balance, grants, movements. The same statement gives the
 * same bytes.
 */
export const statementPdf = (statement: MonthlyStatement, workspaceName: string | null): Uint8Array =>
  loadTypstTemplate(projectPath('libs/billing/src/statement-pdf/template'), 'statement.typ', FONTS).pdf({
    statement: JSON.stringify(sheetOf(statement, workspaceName)),
  });
