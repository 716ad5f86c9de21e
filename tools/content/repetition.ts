import { familyOf } from '#publishing/content/book/families.js';
import type { LoadedFile } from '#publishing/content/book/book.js';
import type { Locale } from '#publishing/document/document.js';
import { SIMILES } from './book-rules.js';
import { type BookFault, type BookText, isForParents, textsOf } from './book-texts.js';
import { foldedWords, sequencesOf } from './text.js';

const OPENING_WORDS = 4;
/** So many equal words in a row are a repetition, wherever the two texts stand. */
const SHINGLE_WORDS = 8;

/** Words of a text, with one for whatever fills a placeholder. */
const filledWords = (text: string): string[] => foldedWords(text.replaceAll(/\{[a-zA-Z]+\}/g, '0'));

/** The texts without a band: one for an age may share sentences with the one it stands for. */
const grownTexts = (files: readonly LoadedFile[]): BookText[] =>
  textsOf(files).filter(({ band, placed }) => band === undefined && placed.shape.words !== null);

/** A reading speaks to its reader or to the parents of a small child, so the two books never meet in one. */
const sameReading = (text: BookText, other: BookText): boolean =>
  text.at !== other.at && isForParents(text.placed.file) === isForParents(other.placed.file);

type Keys = (text: BookText) => readonly string[];

/** Faults of `own` for each key that another text has too. `apart` says which two texts count. */
const sharedKeys = (
  own: readonly BookText[],
  all: readonly BookText[],
  keys: Keys,
  describe: (key: string, other: string) => string,
  apart: (text: BookText, other: BookText) => boolean = (text, other) => text.at !== other.at,
): BookFault[] => {
  const holders = new Map<string, BookText[]>();
  for (const text of all) {
    for (const key of keys(text)) {
      const known = holders.get(key);
      if (known) known.push(text);
      else holders.set(key, [text]);
    }
  }
  return own.flatMap((text) => {
    const told = new Set<string>();
    return keys(text).flatMap((key) => {
      const other = holders.get(key)?.find((holder) => apart(text, holder))?.at;
      if (other === undefined || told.has(other)) return [];
      told.add(other);
      return [{ at: text.at, fault: describe(key, other) }];
    });
  });
};

const openingOf: Keys = ({ placed, forms }) => {
  const words = filledWords(forms.neutral);
  if (words.length <= OPENING_WORDS) return [];
  return [`${familyOf(placed.file)}: ${words.slice(0, OPENING_WORDS).join(' ')}`];
};

const shinglesOf: Keys = ({ forms }) => sequencesOf(filledWords(forms.neutral), SHINGLE_WORDS);

/** Nouns of images within a file. */
const imagesOf =
  (locale: Locale): Keys =>
  ({ placed, forms }) => {
    const nouns = [...forms.neutral.matchAll(SIMILES[locale])].map(([, noun]) => noun?.toLowerCase() ?? '');
    return [...new Set(nouns)].map((noun) => `${placed.file}: ${noun}`);
  };

/** Forms of one entry never meet in a reading. */
const otherEntry = (text: BookText, other: BookText): boolean => text.placed.path !== other.placed.path;

/** Openings and images that recur in a family or file, and words in a row that recur anywhere in the book. */
export const repetitions = (
  locale: Locale,
  files: readonly LoadedFile[],
  book: readonly LoadedFile[],
): BookFault[] => {
  const own = grownTexts(files);
  const all = grownTexts(book);
  return [
    ...sharedKeys(own, all, openingOf, (key, other) => `opens like ${other}: "${key.split(': ')[1]}"`),
    ...sharedKeys(own, all, shinglesOf, (key, other) => `repeats ${other}: "${key}"`, sameReading),
    ...sharedKeys(
      own,
      all,
      imagesOf(locale),
      (key, other) => `has the image of ${other}: "${key.split(': ')[1]}"`,
      otherEntry,
    ),
  ];
};
