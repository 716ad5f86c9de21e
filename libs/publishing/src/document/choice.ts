import type { ReadingResult } from '#numerology/index.js';
import { type AgeBand, type Concord, CONCORDS, type Form } from '../content/book/shape.js';
import type { Forms } from '../content/message.js';

/** FNV-1a, then mixed so that neighbouring texts differ in every bit. 32 bits, the same on every machine. */
const hash = (text: string): number => {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97);
  return (state ^ (state >>> 15)) >>> 0;
};

/** What a choice between equal forms depends on: the folded name and the date of birth, nothing else. */
export const personKey = ({ normalization, subject }: ReadingResult): string =>
  `${normalization.words.map(({ letters }) => letters).join(' ')} ${subject.dateOfBirth}`;

/** A number below `count`, for ever the same for this person and this entry. */
export const pick = (person: string, key: string, count: number): number =>
  count < 2 ? 0 : hash(`${person} ${key}`) % count;

/** The group of roots that a number belongs to. */
export const concordOf = (root: number): Concord =>
  CONCORDS.find((concord) => concord.includes(String(root))) ?? '3-6-9';

const FIRST_AGES = [7, 16, 30, 60, 80] as const;
const BANDS = ['7-15', '16-29', undefined, '60-79', '80+'] as const satisfies readonly (
  | AgeBand
  | undefined
)[];

/** The band of an age in completed years; undefined for 30 to 59, for which every text is written. */
export const bandOf = (age: number): AgeBand | undefined =>
  BANDS[FIRST_AGES.findLastIndex((first) => age >= first)];

/** The text of a form at an age. */
export const textAt = (form: Form, age: number): Forms => {
  const band = bandOf(age);
  return (band && form.ages[band]) ?? form.text;
};
