import type { Locale } from '../document/document.js';
import type { Catalog } from './catalog-schema.js';
import { loadCatalog } from './load-catalog.js';

const loaded = new Map<Locale, Catalog>();

/**
 * All the prose of one language, typeset and validated. Loaded on first use.
 * @throws Error naming the file and each faulty key
 */
export const catalogFor = (locale: Locale): Catalog => {
  const known = loaded.get(locale);
  if (known) return known;
  const catalog = loadCatalog(locale);
  loaded.set(locale, catalog);
  return catalog;
};
