import type { Locale } from '../../document/document.js';
import { BOOK } from './families.js';
import { readEntries } from './read-entries.js';
import type { Entry } from './shape.js';

/** All prose of one language. It never changes once it is read. */
export interface Book {
  /**
   * The entry at a key: file and path, e.g. `life-path/7 drive`.
   * @throws Error when the book has no such entry: a gap in the content, never caused by the person's data
   */
  readonly entry: (key: string) => Entry;
  readonly has: (key: string) => boolean;
}

const createBook = (locale: Locale): Book => {
  const entries = new Map<string, Entry>();
  const read = new Set<string>();
  const find = (key: string): Entry | undefined => {
    const known = entries.get(key);
    if (known) return known;
    const file = key.slice(0, key.indexOf(' '));
    if (read.has(file) || !(file in BOOK)) return undefined;
    readEntries(locale, file).forEach(([at, entry]) => entries.set(at, entry));
    read.add(file);
    return entries.get(key);
  };
  return {
    entry: (key) => {
      const entry = find(key);
      if (!entry) throw new Error(`The book has no entry ${key}`);
      return entry;
    },
    has: (key) => find(key) !== undefined,
  };
};

const books = new Map<Locale, Book>();

/**
 * The book of a language, `content/<locale>/**.yaml`, typeset. Each file is read once, when it is first needed: a
 * reading needs a third of them.
 */
export const bookFor = (locale: Locale): Book => {
  const known = books.get(locale);
  if (known) return known;
  const book = createBook(locale);
  books.set(locale, book);
  return book;
};
