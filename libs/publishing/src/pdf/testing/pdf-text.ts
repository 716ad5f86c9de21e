import { readPages } from './laid-out.js';
import { objectsOf, plainText, textOf, TITLE } from './pdf-file.js';

/** What a test reads from a PDF that our own typesetter wrote. Not a general PDF reader. */
export interface PdfContents {
  readonly pages: number;
  /** The text of the pages in content order, without artifacts (running heads, page numbers, drawn ornaments). */
  readonly text: string;
  /** All text of each page, artifacts included. */
  readonly printed: readonly string[];
  /** Titles of the bookmarks, in order. */
  readonly outline: readonly string[];
  /** Its objects as plain text, to search for entries such as `/Lang`. */
  readonly source: string;
}

export const readPdf = (pdf: Uint8Array): PdfContents => {
  const objects = objectsOf(pdf);
  const reference = (body: string, key: string): string =>
    objects.get(new RegExp(`/${key} (\\d+) 0 R`).exec(body)?.[1] ?? '') ?? '';
  const bookmarks = (node: string): string[] => {
    if (node === '') return [];
    const title = TITLE.exec(node)?.[1];
    const rest = [...bookmarks(reference(node, 'First')), ...bookmarks(reference(node, 'Next'))];
    return title ? [textOf(title), ...rest] : rest;
  };
  const outlines = [...objects.values()].find((body) => body.includes('/Type /Outlines')) ?? '';
  const pages = readPages(pdf);
  const joined = (runs: readonly { readonly text: string }[]): string =>
    runs.map(({ text }) => text).join('');
  return {
    pages: pages.length,
    text: pages.map(({ runs }) => joined(runs.filter(({ role }) => role !== null))).join('\n'),
    printed: pages.map(({ runs, turned }) => joined(runs) + turned.join('')),
    outline: bookmarks(reference(outlines, 'First')),
    source: plainText(pdf),
  };
};
