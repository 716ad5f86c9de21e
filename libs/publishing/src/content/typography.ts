import type { Locale } from '../document/document.js';

const NBSP = '\u00A0';
const NARROW_NBSP = '\u202F';

type Rule = readonly [pattern: RegExp, replacement: string];

const MONTHS = 'janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre';

/** A number that the text cites stays with the word before it. */
const CITED: Rule = [
  /(?<=\p{L}) (?=\{(?:number|lifePath|expression|soulUrge|dominant|pinnacle|debt)\})/gu,
  NBSP,
];

/** Imprimerie nationale: thin space before ; ! ?, full no-break space before : and inside « ». */
const FRENCH: readonly Rule[] = [
  [/'/g, '’'],
  [/\.\.\./g, '…'],
  [/"([^"]*)"/g, '« $1 »'],
  [/\s*([;!?])/g, `${NARROW_NBSP}$1`],
  [/\s*:(?=\s|$)/g, `${NBSP}:`],
  [/«\s*/g, `«${NBSP}`],
  [/\s*»/g, `${NBSP}»`],
  [/\bn° (?=[\d{])/g, `n°${NBSP}`],
  [/(?<=[\d}]) (?=ans?\b)/g, NBSP],
  [new RegExp(`(?<=\\d|1er) (?=(?:${MONTHS})\\b)`, 'g'), NBSP],
  [/ ([–—]) /g, `${NBSP}$1 `],
  CITED,
];

/** Chicago: curly quotes and apostrophes, no space before punctuation, unspaced em dash. */
const ENGLISH: readonly Rule[] = [
  [/(^|[\s([—])"/g, '$1“'],
  [/"/g, '”'],
  [/(^|[\s([—“])'/g, '$1‘'],
  [/'/g, '’'],
  [/\.\.\./g, '…'],
  [/\s*—\s*/g, '—'],
  CITED,
];

const RULES: Record<Locale, readonly Rule[]> = { 'fr-FR': FRENCH, 'en-US': ENGLISH };

/** A name as documents print it: in the caller's spelling, with the apostrophe of print. */
export const printedName = (name: string): string => name.replaceAll("'", '’');

/**
 * Sets the spaces, quotes and apostrophes of `text` by the rules of its language. Authors type plain keyboard
 * characters; `{placeholders}` pass through. Idempotent.
 */
export const typeset = (locale: Locale, text: string): string =>
  RULES[locale].reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
