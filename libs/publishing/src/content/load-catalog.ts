import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';
import { parse } from 'yaml';
import type { Locale } from '../document/document.js';
import { type Catalog, FAMILIES, type Family } from './catalog-schema.js';
import { typeset } from './typography.js';

export const LOCALES: readonly Locale[] = ['fr-FR', 'en-US'];

const typesetAll = (locale: Locale, value: unknown): unknown => {
  if (typeof value === 'string') return typeset(locale, value.trim());
  if (Array.isArray(value)) return value.map((item) => typesetAll(locale, item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, typesetAll(locale, item)]));
};

const loadFamily = (locale: Locale, family: Family): unknown => {
  const path = `libs/publishing/content/former/${locale}/${family}.yaml`;
  const source: unknown = parse(readFileSync(projectPath(path), 'utf8'));
  const parsed = FAMILIES[family].safeParse(typesetAll(locale, source));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`${path} is not valid:\n${faults.join('\n')}`);
};

/**
 * Reads `content/former/<locale>/*.yaml`, typesets it, and checks it. That takes half a second: in a bundle, this module
 * reads the result from JSON instead, which the build has written (tools/bundle.mjs).
 * @throws Error naming the file and each faulty key
 */
export const loadCatalog = (locale: Locale): Catalog =>
  Object.fromEntries(
    (Object.keys(FAMILIES) as Family[]).map((family) => [family, loadFamily(locale, family)]),
  ) as Catalog;
