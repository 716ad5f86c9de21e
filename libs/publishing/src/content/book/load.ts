import { existsSync, readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { parse } from 'yaml';
import type { Locale } from '../../document/document.js';
import { readEntry } from './entry.js';
import { BOOK } from './families.js';
import { type Entry, type EntryShape, isEntryShape, type ShapeTree } from './shape.js';

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

const pathOf = (locale: Locale, file: string): string =>
  projectPath(`libs/publishing/content/${locale}/${file}.yaml`);

const keysOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

/** Reads one file; what is missing is a gap, what does not fit is a fault. */
export const loadFile = (locale: Locale, file: string): LoadedFile => {
  const entries: PlacedEntry[] = [];
  const gaps: string[] = [];
  const faults: string[] = [];

  const walk = (shape: ShapeTree | EntryShape, value: unknown, path: string): void => {
    if (isEntryShape(shape)) {
      if (value === undefined || value === null) {
        gaps.push(path);
        return;
      }
      const entry = readEntry(locale, shape, value, (message) => faults.push(`${path}: ${message}`));
      entries.push({ file, path, shape, entry });
      return;
    }
    const map = value === undefined || value === null ? {} : keysOf(value);
    if (!map) {
      faults.push(`${path}: must be a map`);
      return;
    }
    for (const key of Object.keys(map)) {
      if (!(key in shape)) faults.push(`${path ? `${path}.` : ''}${key}: unknown key`);
    }
    for (const [key, child] of Object.entries(shape)) walk(child, map[key], path ? `${path}.${key}` : key);
  };

  const shape = BOOK[file];
  if (!shape) throw new Error(`The book has no file ${file}`);
  const path = pathOf(locale, file);
  let source: unknown;
  try {
    source = existsSync(path) ? parse(readFileSync(path, 'utf8')) : undefined;
  } catch (error) {
    return { file, entries, gaps, faults: [`is not YAML: ${error instanceof Error ? error.message : ''}`] };
  }
  walk(shape, source, '');
  return { file, entries, gaps, faults };
};
