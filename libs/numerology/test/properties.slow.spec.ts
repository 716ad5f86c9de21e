import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  calculateTheme,
  foldToWords,
  personalYear,
  readDate,
  root,
  type StructuredName,
  type ThemeSubject,
  toResult,
} from '../src/index.js';
import { expression, personality, soulUrge } from '../src/numbers.js';
import { datesOfBirth, names, readingDays, SEED, subjects, words } from './people.js';

type Theme = ReturnType<typeof calculateTheme>;
const ASOF = '2026-09-29';
const MANY = { seed: SEED, numRuns: 1_000 };

const themeOf = (name: StructuredName): Theme =>
  calculateTheme({ name, dateOfBirth: '1990-06-15', subjectGender: 'neutral' }, ASOF);

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

it.each<[string, (name: StructuredName) => StructuredName]>([
  ['letter case', (name) => mapName(name, (element) => element.toUpperCase())],
  ['decomposed letters', (name) => mapName(name, (element) => element.normalize('NFD'))],
  ['composed letters', (name) => mapName(name, (element) => element.normalize('NFC'))],
  [
    'a group sent as one element with spaces',
    ({ firstNames, middleNames, lastNames }) => ({
      firstNames: [firstNames.join(' ')],
      middleNames: middleNames.length === 0 ? [] : [middleNames.join('  ')],
      lastNames: [lastNames.join('\u00A0')],
    }),
  ],
])('Changes no number: %s', (_, change) => {
  const same = fc.property(
    names,
    (name) => calculation(themeOf(change(name))) === calculation(themeOf(name)),
  );
  fc.assert(same, MANY);
});

it('root(Expression) = root(root(Soul Urge) + root(Personality))', () => {
  const holds = fc.property(names, (name) => {
    const { words: read } = foldToWords(name);
    const [soul, outer] = [soulUrge(read).root, personality(read).root];
    return soul === null || outer === null || expression(read).root === root(soul + outer);
  });
  fc.assert(holds, { seed: SEED, numRuns: 5_000 });
});

it('Only Active, Heredity, transits and essence see which group a word is in', () => {
  const holds = fc.property(words(3, 6), fc.nat(), fc.nat(), (all, a, b) => {
    const cuts = [1 + (a % (all.length - 1)), 1 + (b % (all.length - 1))].sort((x, y) => x - y);
    const recut = {
      firstNames: all.slice(0, cuts[0]),
      middleNames: all.slice(cuts[0], cuts[1]),
      lastNames: all.slice(cuts[1]),
    };
    const plain = { firstNames: all.slice(0, 1), middleNames: [], lastNames: all.slice(1) };
    return ungrouped(themeOf(recut)) === ungrouped(themeOf(plain));
  });
  fc.assert(holds, MANY);
});

it('The same person on the same day has the same bytes, in any locale and gender', () => {
  const envelope = { readingId: '', contentVersion: '1', formats: [] };
  const holds = fc.property(subjects, readingDays, (subject, asOf) => {
    const french = toResult(calculateTheme(subject, asOf), { ...envelope, locale: 'fr-FR' });
    const again: ThemeSubject = { ...structuredClone(subject), subjectGender: 'masculine' };
    const english = toResult(calculateTheme(again, asOf), { ...envelope, locale: 'en-US' });
    const same = { ...english, locale: 'fr-FR', subject: french.subject };
    expect(JSON.stringify(same)).toBe(JSON.stringify(french));
  });
  fc.assert(holds, MANY);
});

it('Nine consecutive personal years differ', () => {
  const holds = fc.property(datesOfBirth, fc.integer({ min: 1583, max: 2200 }), (dateOfBirth, from) => {
    const birth = readDate(dateOfBirth)!;
    return new Set(Array.from({ length: 9 }, (_, ahead) => personalYear(birth, from + ahead))).size === 9;
  });
  fc.assert(holds, MANY);
});

it('Periods and pinnacles follow each other from birth without a gap, one current; periods begin in a personal year 1', () => {
  const holds = fc.property(subjects, readingDays, (subject, asOf) => {
    const { cycles, age } = calculateTheme(subject, asOf);
    for (const stages of [cycles.periods, cycles.pinnacles]) {
      const starts = stages.map(({ fromAge }) => fromAge);
      expect([0, ...stages.map(({ toAge }) => toAge)].join()).toBe([...starts, null].join());
      const [current, ...others] = stages.filter((stage) => stage.current);
      expect(others).toEqual([]);
      expect(current!.fromAge).toBeLessThanOrEqual(age);
      expect(current!.toAge ?? Infinity).toBeGreaterThan(age);
    }
    const birth = readDate(subject.dateOfBirth)!;
    const [, ...later] = cycles.periods.map(({ fromYear }) => personalYear(birth, fromYear));
    expect(later).toEqual([1, 1]);
  });
  fc.assert(holds, MANY);
});
