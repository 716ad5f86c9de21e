import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  calculateTheme,
  checkDateOfBirth,
  checkName,
  foldToWords,
  personalYear,
  readDate,
  root,
  type StructuredName,
  type Theme,
  type ThemeSubject,
  toResult,
} from '../src/index.js';
import { expression, personality, soulUrge } from '../src/numbers/name-numbers.js';
import { datesOfBirth, names, readingDays, SEED, subjects, words } from './people.js';

const ASOF = '2026-09-29';
const ALL = { seed: SEED, numRuns: 20_000 };
const MANY = { seed: SEED, numRuns: 1_000 };

const themeOf = (name: StructuredName, dateOfBirth = '1990-06-15'): Theme =>
  calculateTheme({ name, dateOfBirth, subjectGender: 'neutral' }, ASOF);

/** The JSON of a theme without its subject's spelling and gender: unchanged when only those change. */
function calculation({ subject: _subject, normalization, ...rest }: Theme): string {
  const { words: read, ...roles } = normalization;
  return JSON.stringify({ ...rest, ...roles, words: read.map(({ letters, group }) => ({ letters, group })) });
}

/** Like `calculation`, without the parts that depend on the name group. */
function ungrouped({ subject: _subject, normalization, numbers, now, ...rest }: Theme): string {
  const { active: _active, heredity: _heredity, ...others } = numbers;
  const { transits: _transits, essence: _essence, ...years } = now;
  const { words: read, ...roles } = normalization;
  return JSON.stringify({ ...rest, ...roles, words: read.map(({ letters }) => letters), others, years });
}

const mapName = (name: StructuredName, change: (element: string) => string): StructuredName => ({
  firstNames: name.firstNames.map(change),
  middleNames: name.middleNames.map(change),
  lastNames: name.lastNames.map(change),
});

describe('for random names', () => {
  it('the generated people are valid', () => {
    fc.assert(
      fc.property(subjects, ({ name, dateOfBirth }) => {
        expect(checkName(name)).toEqual([]);
        expect(checkDateOfBirth(dateOfBirth, ASOF)).toBeNull();
      }),
      MANY,
    );
  });

  it('root(Expression) = root(root(Soul Urge) + root(Personality))', () => {
    fc.assert(
      fc.property(names, (name) => {
        const { words: read } = foldToWords(name);
        const [soul, outer] = [soulUrge(read).root, personality(read).root];
        return soul === null || outer === null || expression(read).root === root(soul + outer);
      }),
      ALL,
    );
  });

  it('letter case changes no number', () => {
    fc.assert(
      fc.property(names, (name) => {
        const upper = mapName(name, (element) => element.toUpperCase());
        return calculation(themeOf(upper)) === calculation(themeOf(name));
      }),
      MANY,
    );
  });

  it('composed and decomposed spellings give the same numbers', () => {
    fc.assert(
      fc.property(names, (name) => {
        const decomposed = mapName(name, (element) => element.normalize('NFD'));
        const composed = mapName(name, (element) => element.normalize('NFC'));
        return calculation(themeOf(decomposed)) === calculation(themeOf(composed));
      }),
      MANY,
    );
  });

  it('a group may be sent as several elements or as one with spaces', () => {
    fc.assert(
      fc.property(names, (name) => {
        const joined: StructuredName = {
          firstNames: [name.firstNames.join(' ')],
          middleNames: name.middleNames.length === 0 ? [] : [name.middleNames.join('  ')],
          lastNames: [name.lastNames.join('\u00A0')],
        };
        return calculation(themeOf(joined)) === calculation(themeOf(name));
      }),
      MANY,
    );
  });

  it('only Active, Heredity, transits and essence see which group a word is in', () => {
    fc.assert(
      fc.property(words(3, 6), fc.nat(), fc.nat(), (all, a, b) => {
        const [first, second] = [1 + (a % (all.length - 1)), 1 + (b % (all.length - 1))].sort(
          (x, y) => x - y,
        );
        const recut = {
          firstNames: all.slice(0, first),
          middleNames: all.slice(first, second),
          lastNames: all.slice(second),
        };
        const plain = { firstNames: all.slice(0, 1), middleNames: [], lastNames: all.slice(1) };
        return ungrouped(themeOf(recut)) === ungrouped(themeOf(plain));
      }),
      MANY,
    );
  });

  it('locale and gender change no number', () => {
    const envelope = { readingId: '', contentVersion: '1', formats: [] };
    fc.assert(
      fc.property(subjects, (subject) => {
        const french = toResult(calculateTheme({ ...subject, subjectGender: 'feminine' }, ASOF), {
          ...envelope,
          locale: 'fr-FR',
        });
        const english = toResult(calculateTheme({ ...subject, subjectGender: 'masculine' }, ASOF), {
          ...envelope,
          locale: 'en-US',
        });
        expect(JSON.stringify({ ...english, locale: 'fr-FR', subject: french.subject })).toBe(
          JSON.stringify(french),
        );
      }),
      MANY,
    );
  });

  it('the same person on the same day gives the same bytes', () => {
    fc.assert(
      fc.property(subjects, readingDays, (subject, asOf) => {
        const again = JSON.parse(JSON.stringify(subject)) as ThemeSubject;
        expect(JSON.stringify(calculateTheme(again, asOf))).toBe(
          JSON.stringify(calculateTheme(subject, asOf)),
        );
      }),
      MANY,
    );
  });
});

describe('for any date of birth', () => {
  it('nine consecutive personal years differ', () => {
    fc.assert(
      fc.property(datesOfBirth, fc.integer({ min: 1583, max: 2200 }), (dateOfBirth, from) => {
        const birth = readDate(dateOfBirth)!;
        const years = Array.from({ length: 9 }, (_, ahead) => personalYear(birth, from + ahead));
        return new Set(years).size === 9;
      }),
      ALL,
    );
  });

  it('periods and pinnacles follow each other from birth without a gap, exactly one current', () => {
    fc.assert(
      fc.property(subjects, readingDays, (subject, asOf) => {
        const { cycles, age } = calculateTheme(subject, asOf);
        for (const stages of [cycles.periods, cycles.pinnacles]) {
          const starts = stages.map(({ fromAge }) => fromAge);
          const ends = stages.map(({ toAge }) => toAge);
          expect([0, ...ends].join()).toBe([...starts, null].join());
          const current = stages.filter((stage) => stage.current);
          expect(current).toHaveLength(1);
          expect(current[0]!.fromAge).toBeLessThanOrEqual(age);
          expect(current[0]!.toAge ?? Infinity).toBeGreaterThan(age);
        }
      }),
      MANY,
    );
  });

  it('the second and the third period begin in a personal year 1', () => {
    fc.assert(
      fc.property(subjects, (subject) => {
        const birth = readDate(subject.dateOfBirth)!;
        const [, second, third] = calculateTheme(subject, ASOF).cycles.periods;
        expect(personalYear(birth, second!.fromYear)).toBe(1);
        expect(personalYear(birth, third!.fromYear)).toBe(1);
      }),
      MANY,
    );
  });
});
