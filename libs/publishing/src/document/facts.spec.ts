import { describe, expect, it } from '@jest/globals';
import { personalMonth, readDate } from '#numerology/index.js';
import { bookFor } from '../content/book/book.js';
import { bandOf, personKey, pick } from './truth.js';
import { absentRoots, fullAbsent, fullLesson, monthsAhead } from './facts.js';
import { composed, nodesOf, textOf } from './testing/composed.js';
import { camille, type Person, resultOf } from './testing/people.js';
import { trialResult } from './testing/trial.js';

const english = bookFor('en-US');
const read = (person: Person, asOf: string) =>
  trialResult({ person, locale: 'en-US', gender: 'neutral', asOf });
const named = (first: string, middle: string[], last: string, dateOfBirth: string): Person => ({
  name: { firstNames: [first], middleNames: middle, lastNames: [last] },
  dateOfBirth,
});

describe('A choice between equal forms', () => {
  it('depends on the folded name, the date of birth and the entry alone, and is the same for ever', () => {
    const accented = { ...camille, name: { ...camille.name, firstNames: ['camillé'] } };
    expect(personKey(resultOf(accented, 'en-US', 'feminine'))).toBe(personKey(resultOf(camille)));
    const person = 'CAMILLE LAURENT 1990-06-15';
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => pick(person, key, 3))).toEqual([2, 1, 0, 2, 1]);
  });

  it('is between the texts of an age', () => {
    const bands = [7, 15, 16, 29, 30, 59, 60, 79, 80, 120].map(bandOf);
    expect(bands.map(String)).toEqual([
      '7-15', '7-15', '16-29', '16-29', 'undefined', 'undefined', '60-79', '60-79', '80+', '80+',
    ]); // prettier-ignore
  });
});

it.each(['2026-01-31', '2026-11-23', '2026-12-31'])(
  'The months ahead are the twelve from that of %s on, with the numbers of the engine',
  (asOf) => {
    const result = read(camille, asOf);
    const ahead = monthsAhead(result);
    const first = 12 * 2026 + Number(asOf.slice(5, 7));
    expect(ahead.map(({ year, month }) => 12 * year + month - first)).toEqual([...Array(12).keys()]);
    const { personalYear: now, nextPersonalYear: next } = result.now;
    for (const { year, month, number, personalYear } of ahead)
      expect([number, personalYear]).toEqual([
        personalMonth(readDate(camille.dateOfBirth)!, year, month),
        year === 2026 ? now : next,
      ]);
  },
);

it.each([
  [
    'in the grid, unless it appears nowhere',
    named('Maëlys', ['Anne', 'Lucie'], 'Girard', '2011-03-09'),
    [2],
    6,
    2,
  ],
  [
    'in the grid when no other is missing',
    named('Ethan', ['Richard'], 'Scott', '1997-05-14'),
    [7],
    7,
    undefined,
  ],
])('A missing value is told in full once: %s', (_, person, absent, lesson, nowhere) => {
  const result = read(person, '2026-11-23');
  expect([absentRoots(result), fullLesson(result), fullAbsent(result)]).toEqual([absent, lesson, nowhere]);
});

describe('Tied passions', () => {
  const explained = (person: Person): string[] =>
    nodesOf(composed(person)).flatMap(({ id }) => /^grid\.passion\.(\d)$/.exec(id)?.[1] ?? []);
  /** Whether the page says this of the passions, in any of its forms. */
  const says = (person: Person, frame: string, value: string): boolean =>
    english
      .entry(`frames/grid ${frame}`)
      .some(({ text }) =>
        textOf(composed(person), 'grid.passion').includes(text.neutral.replace(/\{\w+\}/, value)),
      );
  it.each([
    [
      'tell two of many',
      named('Sophia', ['Olivia'], 'Young', '1985-08-06'),
      ['1', '6'],
      'passionToldMany',
      '1 and 6',
    ],
    [
      'of one letter each tell none',
      named('Bo', [], 'Li', '1999-05-16'),
      [],
      'passionEach',
      '2, 3, 6, and 9',
    ],
  ])('%s', (_, person, told, frame, value) => {
    expect([explained(person), says(person, frame, value)]).toEqual([told, true]);
  });
});
