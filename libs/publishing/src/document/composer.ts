import type { ReadingResult } from '@app/numerology/index.js';
import type { Catalog } from '../content/catalog-schema.js';
import { catalogFor } from '../content/catalog.js';
import { formatDate, formatList, formatNumber, formatOrdinal } from '../content/locale-formats.js';
import { type Forms, type Message, toInline, toPlain, type Values } from '../content/message.js';
import type { Inline, NumberRef } from './document.js';
import { numberRef } from './nodes.js';

/** The numbers a section can cite by name. */
export type NumberKey = keyof ReadingResult['numbers'];

/** Completed years below which scenes of work and commitment become scenes of school, or are set in the future. */
const ADULT_SCENES_AGE = 16;

export const isYoung = ({ age }: ReadingResult): boolean => age < ADULT_SCENES_AGE;

/** Completed years above which a reading omits "this year". */
const OLDEST_CURRENT_AGE = 110;

export const isBeyond = ({ age }: ReadingResult): boolean => age > OLDEST_CURRENT_AGE;

/** What every section is composed from: the result, the prose of its language, and the forms of one gender. */
export interface Composer {
  readonly result: ReadingResult;
  readonly catalog: Catalog;
  /** The message as inline nodes, with its placeholders filled. */
  readonly say: (message: Message, values?: Values) => Inline[];
  /** The message as a string, for titles and alternative texts. */
  readonly plain: (message: Message, values?: Readonly<Record<string, string>>) => string;
  /** A link to one of `result.numbers`, printed as the result displays it. */
  readonly number: (key: NumberKey) => NumberRef;
  readonly date: (date: string) => string;
  readonly ordinal: (value: number) => string;
  readonly list: (items: readonly string[]) => string;
  readonly amount: (value: number) => string;
  /** « une lettre », « 5 lettres » */
  readonly letterCount: (count: number) => string;
}

export const createComposer = (result: ReadingResult): Composer => {
  const { locale } = result;
  const gender = result.subject.subjectGender;
  const catalog = catalogFor(locale);
  const young = isYoung(result);
  /** The forms for the reader's age. */
  const forAge = (message: Message): Forms => (young ? (message.young ?? message) : message);
  const plain: Composer['plain'] = (message, values) => toPlain(forAge(message), gender, values);
  return {
    result,
    catalog,
    plain,
    say: (message, values) => toInline(forAge(message), gender, values),
    number: (key) => numberRef(`numbers.${key}`, result.numbers[key].display),
    date: (date) => formatDate(locale, date),
    ordinal: (value) => formatOrdinal(locale, value),
    list: (items) => formatList(locale, items),
    amount: (value) => formatNumber(locale, value),
    letterCount: (count) =>
      count === 1
        ? plain(catalog.terms.letterCountOne)
        : plain(catalog.terms.letterCountMany, { count: String(count) }),
  };
};

/**
 * The entry of a table of prose for one number.
 * @throws Error when there is none: a gap in the content, never caused by the person's data
 */
export const entryFor = <T>(entries: Readonly<Record<number, T>>, key: number): T => {
  const entry = entries[key];
  if (entry === undefined) throw new Error(`The content has no entry for ${key}`);
  return entry;
};
