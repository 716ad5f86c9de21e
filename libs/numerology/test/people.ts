import fc from 'fast-check';
import type { StructuredName, ThemeSubject } from '../src/index.js';

/** A fixed seed keeps the random people the same in every run. */
export const SEED = 20260929;

const FOLDABLE = [...'abcdefghijklmnopqrstuvwxyz', ...'éèêëàâçîïôùûüÿñãöåœæßøłđðþħŧıŋğşžčřńţḥẽễạơư'];

const letters = (maxLength: number) =>
  fc.array(fc.constantFrom(...FOLDABLE), { minLength: 1, maxLength }).map((all) => all.join(''));

/** One to three segments joined by a hyphen, an apostrophe or a period. */
const word = fc
  .tuple(letters(9), fc.option(fc.tuple(fc.constantFrom('-', "'", '’', '.', '\u2011'), letters(6))))
  .map(([head, tail]) => (tail ? head + tail.join('') : head));

/** Words of a last name are never a generational suffix. */
const SUFFIX = /^(jr|sr|ii|iii|iv|v)$/;
const plainWord = word.filter((text) => !SUFFIX.test(text));

export const words = (minLength: number, maxLength: number) => fc.array(plainWord, { minLength, maxLength });

export const names: fc.Arbitrary<StructuredName> = fc.record({
  firstNames: words(1, 3),
  middleNames: words(0, 3),
  lastNames: words(1, 3),
});

const iso = (date: Date): string => date.toISOString().slice(0, 10);

const days = (from: string, to: string) =>
  fc
    .date({ min: new Date(`${from}T00:00:00Z`), max: new Date(`${to}T00:00:00Z`), noInvalidDate: true })
    .map(iso);

export const datesOfBirth = days('1583-01-01', '2026-09-29');
export const readingDays = days('2026-09-29', '2060-12-31');

export const subjects: fc.Arbitrary<ThemeSubject> = fc.record({
  name: names,
  dateOfBirth: datesOfBirth,
  subjectGender: fc.constantFrom('feminine' as const, 'masculine' as const, 'neutral' as const),
});
