import type { Locale } from '../../document/document.js';
import type { Forms } from '../message.js';
import { typeset } from '../typography.js';
import {
  AGE_BANDS,
  CONCORDS,
  type Entry,
  type EntryShape,
  type Form,
  isClaim,
  isTrait,
  isEntryShape,
  label,
  type ShapeTree,
} from './shape.js';
import { existsSync, readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { parse } from 'yaml';
import { BOOK } from './families.js';

const GENDERS = ['feminine', 'masculine', 'neutral'] as const;
const FORM_KEYS = ['text', 'when', 'traits', 'bridges', 'ages'];

export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unknownKeys = (map: Record<string, unknown>, known: readonly string[]): string[] =>
  Object.keys(map)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown key ${key}`);

export const placeholdersOf = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{([a-zA-Z]+)\}/g)].map(([, name]) => name as string))].sort();

/** Reads one YAML value as an entry; `fault` receives what is wrong with it. */
export const readEntry = (
  locale: Locale,
  shape: EntryShape,
  value: unknown,
  fault: (message: string) => void,
): Entry => {
  const string = (text: unknown): string => {
    if (typeof text !== 'string' || text.trim() === '') {
      fault('a text is missing or not a string');
      return '';
    }
    if (/\n/.test(text.trim())) fault('a text has a line break: write it after >-');
    const used = placeholdersOf(text).join(', ');
    const wanted = [...shape.uses].sort().join(', ');
    if (used !== wanted) fault(`uses the placeholders (${used || 'none'}) instead of (${wanted || 'none'})`);
    return typeset(locale, text.trim());
  };

  const forms = (text: unknown): Forms => {
    if (!isMap(text)) {
      const same = string(text);
      return { feminine: same, masculine: same, neutral: same };
    }
    unknownKeys(text, GENDERS).forEach(fault);
    const [feminine = '', masculine = '', neutral = ''] = GENDERS.map((gender) => string(text[gender]));
    return { feminine, masculine, neutral };
  };

  const listOf = <T>(items: unknown, is: (item: unknown) => item is T, what: string): T[] => {
    if (items === undefined) return [];
    if (!Array.isArray(items)) {
      fault(`${what} is not a list`);
      return [];
    }
    items.filter((item) => !is(item)).forEach((item) => fault(`${what}: ${String(item)} is not in the list`));
    return items.filter(is);
  };

  const agesOf = (ages: unknown): Form['ages'] => {
    if (ages === undefined) return {};
    if (!isMap(ages)) {
      fault('ages is not a map');
      return {};
    }
    unknownKeys(ages, AGE_BANDS).forEach(fault);
    return Object.fromEntries(
      AGE_BANDS.filter((band) => ages[band] !== undefined).map((band) => [band, forms(ages[band])]),
    );
  };

  const form = (source: unknown): Form => {
    if (!isMap(source) || 'feminine' in source) {
      return { text: forms(source), traits: [], bridges: [], ages: {} };
    }
    unknownKeys(source, FORM_KEYS).forEach(fault);
    const when = CONCORDS.find((concord) => concord === source['when']);
    if (source['when'] !== undefined && !when) fault(`when is none of ${CONCORDS.join(', ')}`);
    return {
      text: forms(source['text']),
      ...(when && { when }),
      traits: listOf(source['traits'], isClaim, 'traits'),
      bridges: listOf(source['bridges'], isTrait, 'bridges'),
      ages: agesOf(source['ages']),
    };
  };

  const entry = Array.isArray(value) ? value.map(form) : [form(value)];
  faultsOfForms(shape, entry).forEach(fault);
  return entry;
};

/** What the shape demands of the forms together. */
const faultsOfForms = (shape: EntryShape, entry: Entry): string[] => {
  const conditions = entry.map(({ when }) => when);
  const missing = shape.by ? CONCORDS.filter((concord) => !conditions.includes(concord)) : [];
  return [
    ...(entry.length < shape.forms ? [`has ${entry.length} of ${shape.forms} forms`] : []),
    ...missing.map((concord) => `has no form for when: ${concord}`),
    ...(!shape.by && conditions.some(Boolean) ? ['takes no when'] : []),
    ...(shape.by && conditions.some((when) => !when) ? ['has a form without when'] : []),
    ...shape.ages
      .filter((band) => entry.some(({ ages }) => !ages[band]))
      .map((band) => `has a form without a text for ages ${band}`),
    ...(shape.traits && entry.some(({ traits }) => traits.length === 0) ? ['has a form without traits'] : []),
    ...(entry.some(({ traits }) => traits.length > 4) ? ['claims more than four traits'] : []),
  ];
};

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
