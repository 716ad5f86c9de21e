import { BOOK, familyOf } from '#publishing/content/book/families.js';
import type { LoadedFile, PlacedEntry } from '#publishing/content/book/book.js';
import { isEntryShape, type ShapeTree } from '#publishing/content/book/shape.js';
import type { Locale } from '#publishing/document/document.js';
import { LOCALES } from '#publishing/document/testing/trial.js';
import { loadBook, textsOf } from './book-texts.js';
import { checkBook, density } from './check-book.js';
import { wordsIn } from './text.js';

const MOST_GAPS_SHOWN = 12;

/** Families whose length is promised: no family may be shorter than its shapes ask in all. */
const PROMISED = [
  'life-path', 'life-path-colour', 'compounds', 'birthday', 'expression', 'soul-urge', 'personality', 'pairs-path',
  'pairs-soul', 'maturity', 'active', 'heredity', 'lessons', 'debts', 'periods', 'pinnacles', 'challenges', 'year',
  'essence', 'synthesis',
]; // prettier-ignore
/** Words promised of a family in all, where its shapes ask for more. */
const PROMISED_IN_ALL: Readonly<Record<string, number>> = { synthesis: 10_000 };

/** Words of an entry as a reader meets it: the mean of its forms. */
const wordsOfEntry = ({ entry }: PlacedEntry): number =>
  entry.reduce((sum, { text }) => sum + wordsIn(text.neutral), 0) / Math.max(entry.length, 1);

/** Families with fewer words than asked, each entry counted once. A family of which a file is left out is not judged. */
export const volumeFaults = (files: readonly LoadedFile[]): string[] =>
  PROMISED.flatMap((family) => {
    const all = Object.keys(BOOK).filter((file) => familyOf(file) === family);
    const own = files.filter(({ file }) => all.includes(file));
    if (own.length < all.length) return [];
    const entries = own.flatMap(({ entries: placed }) => placed);
    const words = Math.round(entries.reduce((sum, placed) => sum + wordsOfEntry(placed), 0));
    const asked = PROMISED_IN_ALL[family] ?? entries.reduce((sum, { shape }) => sum + (shape.words ?? 0), 0);
    return words < asked ? [`${family}: ${words} words of ${asked} asked`] : [];
  });

const reportLocale = (locale: Locale, families: readonly string[], print: (line: string) => void): number => {
  const book = loadBook(locale);
  const files = families.length === 0 ? book : loadBook(locale, families);
  if (files.length === 0) throw new Error(`The book has no family or file ${families.join(', ')}`);
  const faults = checkBook(locale, files, book);
  for (const { at, fault, text } of faults) print(`${locale} ${at}: ${fault}${text ? `\n    ${text}` : ''}`);
  const gaps = files.flatMap(({ file, gaps: missing }) => missing.map((path) => `${file} ${path}`));
  const shown = gaps.slice(0, MOST_GAPS_SHOWN).join(', ');
  if (gaps.length > 0) print(`${locale} missing: ${shown}${gaps.length > MOST_GAPS_SHOWN ? ', …' : ''}`);
  const { words, semicolons, contrasts, sentence } = density(locale, files);
  print(
    `${locale}: ${words} words, ${faults.length} faults, ${gaps.length} entries missing; per 1,000 words ` +
      `${semicolons} semicolons, ${contrasts} "not X but Y"; ${sentence} words to a sentence`,
  );
  const short = volumeFaults(files);
  for (const fault of short) print(`${locale} ${fault}`);
  return faults.length + short.length;
};

/**
 * Prints the faults and gaps of the families or files named (all if none), in one language or in each.
 * @returns the number of faults; a gap is none
 */
export const reportBook = (
  families: readonly string[],
  locale: Locale | undefined,
  print: (line: string) => void,
): number =>
  (locale ? [locale] : LOCALES)
    .map((each) => reportLocale(each, families, print))
    .reduce((sum, faults) => sum + faults, 0);

const wordsAsked = (shape: ShapeTree): number =>
  Object.values(shape).reduce(
    (sum, child) => sum + (isEntryShape(child) ? (child.words ?? 0) * child.forms : wordsAsked(child)),
    0,
  );

/** Prints the words of each family beside what its shape asks; texts for an age are not counted. */
export const bookStats = (print: (line: string) => void): void => {
  const row = (name: string, ...cells: readonly (number | string)[]) =>
    print(name.padEnd(20) + cells.map((cell) => String(cell).padStart(10)).join(''));
  const written = LOCALES.map((locale) => loadBook(locale));
  const families = [...new Set(Object.keys(BOOK).map(familyOf))];
  const totals = [0, 0, 0];
  row('family', 'asked', ...LOCALES, ...LOCALES.map((locale) => `gaps ${locale.slice(0, 2)}`));
  for (const family of families) {
    const asked = Object.entries(BOOK)
      .filter(([file]) => familyOf(file) === family)
      .reduce((sum, [, shape]) => sum + wordsAsked(shape), 0);
    const files = written.map((book) => book.filter(({ file }) => familyOf(file) === family));
    const words = files.map((own) =>
      textsOf(own)
        .filter(({ band }) => band === undefined)
        .reduce((sum, { forms }) => sum + wordsIn(forms.neutral), 0),
    );
    const gaps = files.map((own) => own.reduce((sum, { gaps: missing }) => sum + missing.length, 0));
    [asked, ...words].forEach((count, index) => (totals[index] = (totals[index] ?? 0) + count));
    row(family, asked, ...words, ...gaps);
  }
  row('all', ...totals);
};
