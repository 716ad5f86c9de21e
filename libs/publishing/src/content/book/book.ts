import { existsSync, readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { parse } from 'yaml';
import type { Locale } from '../../document/document.js';
import { isMap, placeholdersOf, readEntry } from './entry.js';
import { BOOK } from './families.js';
import { type Entry, type EntryShape, isEntryShape, label, type ShapeTree } from './shape.js';

/** An entry with its place, e.g. `life-path/7` and `drive`. */
export interface PlacedEntry {
  readonly file: string;
  readonly path: string;
  readonly shape: EntryShape;
  readonly entry: Entry;
}

/** A file of the book as far as it is written. */
export interface LoadedFile {
  readonly file: string;
  readonly entries: readonly PlacedEntry[];
  /** Paths of the entries that are not written. */
  readonly gaps: readonly string[];
  /** `drive: has 2 of 3 forms` */
  readonly faults: readonly string[];
}

/** The shape of a frame is what it is: text, with the placeholders of its first form in every other. */
const shapeOfFrame = (value: unknown): EntryShape | ShapeTree =>
  isMap(value) && !('text' in value) && !('feminine' in value)
    ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, shapeOfFrame(child)]))
    : label(...placeholdersOf(JSON.stringify(Array.isArray(value) ? value[0] : value)));

/** Reads `content/<locale>/<file>.yaml`, typeset; what is missing is a gap, what does not fit is a fault. */
export const loadFile = (locale: Locale, file: string): LoadedFile => {
  const entries: PlacedEntry[] = [];
  const gaps: string[] = [];
  const faults: string[] = [];

  const walk = (shape: ShapeTree | EntryShape, value: unknown, path: string): void => {
    if (isEntryShape(shape)) {
      if (value === undefined || value === null) return void gaps.push(path);
      const entry = readEntry(locale, shape, value, (message) => faults.push(`${path}: ${message}`));
      return void entries.push({ file, path, shape, entry });
    }
    const map = value ?? {};
    if (!isMap(map)) return void faults.push(`${path}: must be a map`);
    const within = (key: string): string => (path ? `${path}.${key}` : key);
    for (const key of Object.keys(map)) if (!(key in shape)) faults.push(`${within(key)}: unknown key`);
    for (const [key, child] of Object.entries(shape)) walk(child, map[key], within(key));
  };

  const shape = BOOK[file];
  if (!shape) throw new Error(`The book has no file ${file}`);
  const path = projectPath(`libs/publishing/content/${locale}/${file}.yaml`);
  let source: unknown;
  try {
    source = existsSync(path) ? parse(readFileSync(path, 'utf8')) : undefined;
  } catch (error) {
    return { file, entries, gaps, faults: [`is not YAML: ${error instanceof Error ? error.message : ''}`] };
  }
  walk(shape === 'frames' ? shapeOfFrame(source) : shape, source, '');
  return { file, entries, gaps, faults };
};

/** All prose of one language. It never changes once it is read. */
const createBook = (locale: Locale) => {
  const entries = new Map<string, Entry>();
  const read = new Set<string>();
  const find = (key: string): Entry | undefined => {
    const file = key.slice(0, key.indexOf(' '));
    if (!entries.has(key) && !read.has(file) && file in BOOK) {
      const { entries: placed, gaps, faults } = loadFile(locale, file);
      const problems = [...gaps.map((path) => `${path} is missing`), ...faults];
      if (problems.length > 0)
        throw new Error(`content/${locale}/${file}.yaml is not valid:\n  ${problems.join('\n  ')}`);
      for (const { path, entry } of placed) entries.set(`${file} ${path}`, entry);
      read.add(file);
    }
    return entries.get(key);
  };
  return {
    /**
     * The entry at a key: file and path, e.g. `life-path/7 drive`.
     * @throws Error when the book has no such entry: a gap in the content, never caused by the person's data
     */
    entry: (key: string): Entry => {
      const entry = find(key);
      if (!entry) throw new Error(`The book has no entry ${key}`);
      return entry;
    },
    has: (key: string): boolean => find(key) !== undefined,
  };
};

export type Book = ReturnType<typeof createBook>;

const books = new Map<Locale, Book>();

/** The book of a language. Each file is read and checked once, when it is first needed: a reading needs a third of them. */
export const bookFor = (locale: Locale): Book => {
  const book = books.get(locale) ?? createBook(locale);
  books.set(locale, book);
  return book;
};
