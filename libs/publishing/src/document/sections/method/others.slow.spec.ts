import { describe, expect, it } from '@jest/globals';
import type { ReadingResult } from '#numerology/index.js';
import { bookFor } from '../../../content/book/book.js';
import { formatList } from '../../../content/locale-formats.js';
import { commonPerson, type Person, randomPerson } from '../../testing/random-people.js';
import { LOCALES, TRIAL_DAY, trialResult } from '../../testing/trial.js';
import { createComposer } from '../../composer.js';
import type { Block, Inline, Locale } from '../../document.js';
import { otherMethods } from './others.js';

/*
 * The usual other methods once more, from the letters and the date alone, without the code of the page: what it prints for
 * 2,000 people must be these lines and no others.
 */

const KEPT = [11, 22, 33];
const DEBTS = [13, 14, 16, 19];

const digitsOf = (value: number): number[] => [...String(value)].map(Number);
const added = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const stepsOf = (sum: number): number[] =>
  sum < 10 || KEPT.includes(sum) ? [sum] : [sum, ...stepsOf(added(digitsOf(sum)))];
const single = (value: number): number => (value < 10 ? value : single(added(digitsOf(value))));
const endOf = (sum: number): number => stepsOf(sum).at(-1) ?? 0;

/** As a reading prints the number of a sum: 11/2, 13/4, 7. */
const shown = (sum: number): string => {
  const end = endOf(sum);
  const debt = stepsOf(sum)
    .slice(0, -1)
    .find((step) => DEBTS.includes(step));
  if (debt !== undefined) return `${debt}/${end}`;
  return KEPT.includes(end) ? `${end}/${single(end)}` : String(end);
};
const arrows = (sum: number): string => stepsOf(sum).join(' → ');
const plus = (values: readonly number[]): string => `${values.join(' + ')} = ${arrows(added(values))}`;

const worth = (letter: string): number => 1 + ((letter.charCodeAt(0) - 'A'.charCodeAt(0)) % 9);

type YChoice = 'own' | 'vowel' | 'consonant';

/** The letters of each word that a number counts. */
const countedBy = (
  result: ReadingResult,
  key: 'expression' | 'soulUrge' | 'personality',
  y: YChoice,
): string[][] =>
  result.normalization.words.map(({ letters }, wordIndex) =>
    [...letters].filter((letter, letterIndex) => {
      if (key === 'expression') return true;
      const role = result.normalization.yRoles.find(
        (each) => each.wordIndex === wordIndex && each.letterIndex === letterIndex,
      )?.role;
      const isVowel = letter === 'Y' ? (y === 'own' ? role : y) === 'vowel' : 'AEIOU'.includes(letter);
      return isVowel === (key === 'soulUrge');
    }),
  );

const worthOf = (letters: readonly string[]): number => added(letters.map(worth));

/** Word by word: each reduced, then added; a single word is reduced once. */
const byWord = (words: readonly (readonly string[])[]): number => {
  const sums = words.map(worthOf).filter((sum) => sum > 0);
  return sums.length === 1 ? (sums[0] ?? 0) : added(sums.map(endOf));
};

const NAMES = ['expression', 'soulUrge', 'personality'] as const;

/** Each line as its text in the book and what fills it. */
const linesOf = (locale: Locale, result: ReadingResult): [key: string, values: Record<string, string>][] => {
  const [year = 0, month = 0, day = 0] = result.subject.dateOfBirth.split('-').map(Number);
  const [asOfYear = 0] = TRIAL_DAY.split('-').map(Number);
  const term = (key: string): string => bookFor(locale).entry(`frames/terms ${key}`)[0]?.text.neutral ?? '';
  const own = added([month, day, year].map(endOf));
  const lines: [string, Record<string, string>][] = [];
  const line = (key: string, values: Record<string, string>): void => void lines.push([key, values]);

  const inRow = [month, day, year].flatMap(digitsOf);
  const path = (key: string, addends: readonly number[]): void => {
    if (shown(added(addends)) === shown(own)) return;
    line(key, { sum: plus(addends), other: shown(added(addends)), own: shown(own) });
  };
  path('digits', inRow);
  path('whole', [month, day, year]);

  for (const key of NAMES) {
    const words = countedBy(result, key, 'own');
    const sum = worthOf(words.flat());
    if (sum === 0 || shown(sum) === shown(byWord(words))) continue;
    line('oneSum', { number: term(key), sum: arrows(sum), other: shown(sum), own: shown(byWord(words)) });
  }
  for (const y of ['vowel', 'consonant'] as const) {
    for (const key of ['soulUrge', 'personality'] as const) {
      const sum = byWord(countedBy(result, key, y));
      const counted = byWord(countedBy(result, key, 'own'));
      if (sum === 0 || shown(sum) === shown(counted)) continue;
      const values = { number: term(key), other: shown(sum), own: counted === 0 ? '–' : shown(counted) };
      line(y === 'vowel' ? 'yVowel' : 'yConsonant', values);
    }
  }
  const to22 = (sum: number): number => (endOf(sum) === 33 ? 6 : endOf(sum));
  const shownTo22 = (sum: number): string => (endOf(sum) === 33 ? '6' : shown(sum));
  const kept = (end: number): string => (KEPT.includes(end) ? `${end}/${single(end)}` : String(end));
  const words22 = (key: (typeof NAMES)[number]): number => {
    const sums = countedBy(result, key, 'own')
      .map(worthOf)
      .filter((sum) => sum > 0);
    return sums.length === 1 ? (sums[0] ?? 0) : added(sums.map(to22));
  };
  const ofGroup = (group: string): number =>
    worthOf(
      result.normalization.words.filter((word) => word.group === group).flatMap((word) => [...word.letters]),
    );
  const [m = 0, d = 0, y = 0] = [month, day, year].map(endOf);
  const pinnacles = (reduce: (sum: number) => number): number[] => {
    const [first = 0, second = 0] = [m + d, d + y].map(reduce);
    return [first, second, reduce(first + second), reduce(m + y)];
  };
  const rows: [name: string, own: string, other: string][] = [
    [term('lifePath'), shown(own), shownTo22(own)],
    ...NAMES.map((key): [string, string, string] => [
      term(key),
      shown(byWord(countedBy(result, key, 'own'))),
      shownTo22(words22(key)),
    ]).filter(([, , other]) => other !== '0'),
    [term('active'), kept(endOf(ofGroup('first'))), kept(to22(ofGroup('first')))],
    [term('heredity'), kept(endOf(ofGroup('last'))), kept(to22(ofGroup('last')))],
    [
      term('maturity'),
      kept(endOf(endOf(own) + endOf(byWord(countedBy(result, 'expression', 'own'))))),
      kept(to22(to22(own) + to22(words22('expression')))),
    ],
    ...pinnacles(endOf).map((each, at): [string, string, string] => [
      `${term('pinnacle')} ${at + 1}`,
      kept(each),
      kept(pinnacles(to22)[at] ?? 0),
    ]),
  ];
  const changed = rows.flatMap(([name, before, other]) => (before === other ? [] : [`${name} (${other})`]));
  if (changed.length > 0) line('no33', { numbers: formatList(locale, changed) });

  // The personal years 1 of a life, by the calendar; and the age at which the reading begins each period.
  const ones = Array.from({ length: 91 }, (_, age) => age).filter(
    (age) => single(month + day + year + age) === 1,
  );
  const nearest = (to: number): number =>
    ones.toSorted((one, other) => Math.abs(one - to) - Math.abs(other - to))[0] ?? 0;
  const [, second, third] = result.cycles.periods;
  if (second?.fromAge !== nearest(28) || third?.fromAge !== nearest(56)) {
    line('periods', { second: String(nearest(28)), third: String(nearest(56)) });
  }
  if (`${asOfYear}${result.subject.dateOfBirth.slice(4)}` > TRIAL_DAY && result.age <= 110) {
    const counted = (each: number): string => String(single(month + day + each));
    line('birthdayYear', { other: counted(asOfYear - 1), own: counted(asOfYear) });
  }
  return lines;
};

const printed = (nodes: readonly Inline[]): string =>
  nodes.map((node) => ('children' in node ? printed(node.children) : node.value)).join('');

const linesWithin = (block: Block | undefined): string[] => {
  if (block?.type === 'list') return block.children.map(({ children }) => printed(children));
  return block?.type === 'paragraph' ? [printed(block.children)] : [];
};

const filled = (locale: Locale, key: string, values: Readonly<Record<string, string>>): string =>
  (bookFor(locale).entry(`frames/method others.${key}`)[0]?.text.neutral ?? '').replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => values[name] ?? '?',
  );

const named = (firstName: string, lastName: string): Person => ({
  name: { firstNames: [firstName], middleNames: [], lastNames: [lastName] },
  dateOfBirth: '1988-02-29',
});
/** Without a vowel, without one but for Y, without a consonant but for Y, without a consonant. */
const BARE = [named('Ng', 'Ng'), named('Lynn', 'Ng'), named('Aoi', 'Yu'), named('Aoi', 'Ueo')];
const PEOPLE = 2_000;

/** Whether another sum of the date ends at another number, and not only at another debt. */
const hasOtherPath = ({ subject }: ReadingResult): boolean => {
  const parts = subject.dateOfBirth.split('-').map(Number);
  const own = endOf(added(parts.map(endOf)));
  return endOf(added(parts.flatMap(digitsOf))) !== own || endOf(added(parts)) !== own;
};

describe('What another calculator makes of a person', () => {
  it.each(LOCALES)('is what 2,000 people get by the other methods themselves: %s', (locale) => {
    let others = 0;
    for (let seed = 1; seed <= PEOPLE + BARE.length; seed += 1) {
      const person =
        BARE[seed - PEOPLE - 1] ?? (seed % 2 === 0 ? randomPerson(seed) : commonPerson(locale, seed));
      const result = trialResult({ person, locale, gender: 'neutral' });
      const [, list] = otherMethods(createComposer(result)).children;
      const expected = linesOf(locale, result).map(([key, values]) => filled(locale, key, values));
      expect([seed, ...linesWithin(list as Block | undefined)]).toEqual([seed, ...expected]);
      if (hasOtherPath(result)) others += 1;
    }
    // A master number by one sum and none by another: more than one person in five.
    expect(others / PEOPLE).toBeGreaterThan(0.19);
    expect(others / PEOPLE).toBeLessThan(0.25);
  });
});
