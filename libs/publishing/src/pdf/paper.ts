import type { Paper } from '#workspaces/contracts/index.js';
import type { Locale } from '../document/document.js';

/** A sheet that a booklet is laid out for. */
export type Sheet = Exclude<Paper, 'by-locale'>;

/** What printers hold where the language is read. */
const USUAL: Readonly<Record<Locale, Sheet>> = { 'fr-FR': 'a4', 'en-US': 'us-letter' };

/** The sheet of a document in this language. */
export const sheetOf = (paper: Paper, locale: Locale): Sheet =>
  paper === 'by-locale' ? USUAL[locale] : paper;
