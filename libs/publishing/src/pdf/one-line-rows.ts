import type { Table } from '../document/document.js';
import { plain } from './inlines.js';

// Lengths in the size of the text of a table. The template has the same table: 126 mm wide, text of 9.6 pt, cells with
// 8 pt on either side.
const SIZE_PT = 9.6;
const TABLE_WIDTH = ((126 / 25.4) * 72) / SIZE_PT;
const CELL_MARGINS = (2 * 8) / SIZE_PT;

/** No letter of a kind is wider in Source Serif 4, regular or semibold. */
const NARROW = { letters: /[ \u00A0ijlt.,:;’'()-]/, width: 0.4 };
const USUAL = { letters: /[a-ln-vx-zà-åç-öø-ÿ\d+=−]/, width: 0.68 };
const WIDEST = 1.05;

/** At most so wide is a text in the faces of the documents, with the margins of a cell; in its size. */
export const widthOf = (text: string): number =>
  Array.from(text, (letter) => {
    if (NARROW.letters.test(letter)) return NARROW.width;
    return USUAL.letters.test(letter) ? USUAL.width : WIDEST;
  }).reduce((sum, width) => sum + width, CELL_MARGINS);

/** The first of columns that share the width may get more than the others. */
const LARGEST_SHARE = 1.4;

/**
 * Which rows of a table surely take one line each. Typst lays out a row of known height once, and any other twice. A
 * last column of text takes the width that the others leave. Columns of figures share the width. Pure.
 */
export const oneLineRows = ({ head, rows, align }: Table): readonly boolean[] => {
  const widths = rows.map((row) => row.map((cell) => widthOf(plain(cell))));
  if (align !== undefined && align.at(-1) !== 'left') {
    const share = TABLE_WIDTH / (head.length - 1 + LARGEST_SHARE);
    return widths.map((row) => Math.max(...row) <= share);
  }
  const others = head
    .slice(0, -1)
    .map((cell, column) => Math.max(widthOf(plain(cell)), ...widths.map((row) => row[column] ?? 0)))
    .reduce((sum, width) => sum + width, 0);
  return widths.map((row) => others + (row.at(-1) ?? 0) <= TABLE_WIDTH);
};
