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

/** From which age, in completed years. From 30 to 59 every text is as it is written. */
const BANDS: readonly (readonly [age: number, band: AgeBand | undefined])[] = [
  [80, '80+'],
  [60, '60-79'],
  [30, undefined],
  [16, '16-29'],
  [7, '7-15'],
];

/** The band of an age in completed years; undefined where no text is for an age. */
export const bandOf = (age: number): AgeBand | undefined => BANDS.find(([first]) => age >= first)?.[1];

/** The text of a form at an age. */
export const textAt = (form: Form, age: number): Forms => {
  const band = bandOf(age);
  return (band && form.ages[band]) ?? form.text;
};
