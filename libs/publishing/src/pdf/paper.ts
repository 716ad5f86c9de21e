import type { Locale } from '../document/document.js';

/** A sheet that a booklet is laid out for. */
export type Sheet = 'a4' | 'us-letter';

/** What a workspace may choose; `by-locale` is the sheet that printers of the reader's country hold. */
export const PAPERS = ['by-locale', 'a4', 'us-letter'] as const;
export type Paper = (typeof PAPERS)[number];

const USUAL: Readonly<Record<Locale, Sheet>> = { 'fr-FR': 'a4', 'en-US': 'us-letter' };

/** The sheet of a document in this language. */
export const sheetOf = (paper: Paper, locale: Locale): Sheet => (paper === 'by-locale' ? USUAL[locale] : paper);
