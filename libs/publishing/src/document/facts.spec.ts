import { describe, expect, it } from '@jest/globals';
import { personalMonth, readDate } from '#numerology/index.js';
import { trialResult } from './testing/trial.js';
import { bookFor } from '../content/book/book.js';
import { composeDocument } from './compose.js';
import { absentRoots, fullAbsent, fullLesson, monthsAhead, strengthOf } from './facts.js';
import { options, textOf } from './testing/composed.js';
import { camille, type Person } from './testing/people.js';

const read = (person: Person, asOf: string) =>
  trialResult({ person, locale: 'en-US', gender: 'neutral', asOf });

describe('The months ahead', () => {
  it.each(['2026-01-31', '2026-02-01', '2026-11-23', '2026-12-31'])(
    'are the twelve from that of %s on, with the numbers of the engine',
    (asOf) => {
      const birth = readDate(camille.dateOfBirth) ?? { year: 0, month: 0, day: 0 };
      const ahead = monthsAhead(read(camille, asOf));
      const first = Number(asOf.slice(5, 7));
      expect(ahead.map(({ year, month }) => 12 * year + month)).toEqual(
        Array.from({ length: 12 }, (_, at) => 12 * 2026 + first + at),
      );
      for (const { year, month, number } of ahead) expect(number).toBe(personalMonth(birth, year, month));
    },
  );

  it('belong to the next personal year from January on', () => {
    const result = read(camille, '2026-11-23');
    expect(monthsAhead(result).map(({ personalYear }) => personalYear)).toEqual([
      ...Array.from({ length: 2 }, () => result.now.personalYear),
      ...Array.from({ length: 10 }, () => result.now.nextPersonalYear),
    ]);
  });
});

describe('A missing value', () => {
  const maelys: Person = {
    name: { firstNames: ['Maëlys'], middleNames: ['Anne', 'Lucie'], lastNames: ['Girard'] },
    dateOfBirth: '2011-03-09',
  };

  it('is told in full once, in the grid or among those that appear nowhere', () => {
    const result = read(maelys, '2026-11-23');
    expect(absentRoots(result)).toContain(2);
    expect(result.grid.lessons).toEqual([2, 6, 8]);
    expect(absentRoots(result)).toEqual([2]);
    expect([fullLesson(result), fullAbsent(result)]).toEqual([6, 2]);
  });

  it('has its full text in the grid when no other is missing', () => {
    const ethan: Person = {
      name: { firstNames: ['Ethan'], middleNames: ['Richard'], lastNames: ['Scott'] },
      dateOfBirth: '1997-05-14',
    };
    const result = read(ethan, '2026-11-23');
    const [only] = result.grid.lessons;
    expect([result.grid.lessons.length, absentRoots(result)]).toEqual([1, [only]]);
    expect([fullLesson(result), fullAbsent(result)]).toEqual([only, undefined]);
    const text = textOf(composeDocument(result, options), 'synthesis.absent');
    expect(text).toContain(bookFor('en-US').entry(`synthesis/absent ${only}.line`)[0]?.text.neutral);
  });
});

describe('The leading number', () => {
  it('leads by a hair when it shares the first rank', () => {
    const mildred: Person = {
      name: { firstNames: ['Mildred'], middleNames: ['Pearl'], lastNames: ['Hutchinson'] },
      dateOfBirth: '1919-01-15',
    };
    const result = read(mildred, '2026-11-23');
    expect(result.synthesis.dominant).toHaveLength(2);
    expect(strengthOf(result)).toBe('quiet');
  });
});
