import { projectPath } from '#platform/project-path.js';
import { loadTypstTemplate } from '#platform/typesetting/typst.js';
import type { MonthlyStatement } from '../contracts/audit.js';
import { sheetOf } from './sheet.js';

/** Those of the documents, in packages. */
export const FONTS = [
  'source-serif-4/300Light/SourceSerif4_300Light',
  'source-serif-4/600SemiBold/SourceSerif4_600SemiBold',
  'source-sans-3/400Regular/SourceSans3_400Regular',
  'source-sans-3/600SemiBold/SourceSans3_600SemiBold',
].map((face) => `@expo-google-fonts/${face}.ttf`);

/**
 * A monthly statement as PDF/UA-1: accounts, a chart of the balance, grants, movements. The same statement gives the
 * same bytes.
 */
export const statementPdf = (statement: MonthlyStatement, workspaceName: string | null): Uint8Array =>
  loadTypstTemplate(projectPath('libs/billing/src/statement-pdf/template'), 'statement.typ', FONTS).pdf({
    statement: JSON.stringify(sheetOf(statement, workspaceName)),
  });
