import { calculateTheme, type ReadingResult, toResult } from '#numerology/index.js';
import type { Person } from './random-people.js';
import type { GrammaticalGender, Locale } from '../document.js';

export type { Person } from './random-people.js';

const named = (first: string, middle: readonly string[], last: string, dateOfBirth: string): Person => ({
  name: { firstNames: [first], middleNames: middle, lastNames: [last] },
  dateOfBirth,
});

/** People whose readings reach the rare branches of the text. */
export const camille = named('Camille', ['Marie'], 'Laurent', '1990-06-15');
export const minh = named('Nguyễn', ['Thị'], 'Minh', '1984-11-22');
export const withoutVowel = named('Ng', [], 'Ng', '1978-02-03');
export const withoutConsonant = named('Aoi', [], 'Ueo', '2001-01-01');
export const child = named('Yann', [], 'Le Goff', '2019-08-30');
/** Six months old on the day of the reading. */
export const newborn = named('Louise', ['Alice'], 'Martin', '2026-03-14');
export const ancestor = named('Ada', ['King'], 'Lovelace', '1815-12-10');
export const thirtyThree = named('Jean-Pierre', [], "d'Arc", '1952-03-22');
/** 13 in the Life Path and again in the Personality, 16 in the Expression. */
export const indebted = named('Lucy', [], 'Jones', '1990-06-15');

/** One missing value gets a line of its own; the pinnacle ahead has the number of the current one, a 7. */
export const emma = named('Emma', [], 'Durand', '1997-01-17');

/** The result of a person as the service would store it, read on 29 September 2026. */
export const resultOf = (
  person: Person,
  locale: Locale = 'fr-FR',
  subjectGender: GrammaticalGender = 'neutral',
): ReadingResult =>
  toResult(calculateTheme({ ...person, subjectGender }, '2026-09-29'), {
    readingId: '0b9f6f0e-5b7d-4f44-9a43-0f3c6c1f8a11',
    locale,
    contentVersion: '2026.11.0',
    formats: ['document_v1', 'markdown', 'pdf'],
  });
