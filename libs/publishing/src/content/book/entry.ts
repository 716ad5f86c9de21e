import type { Locale } from '../../document/document.js';
import type { Forms } from '../message.js';
import { typeset } from '../typography.js';
import { AGE_BANDS, CONCORDS, type Entry, type EntryShape, type Form } from './shape.js';
import { isClaim, isTrait } from './traits.js';

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
