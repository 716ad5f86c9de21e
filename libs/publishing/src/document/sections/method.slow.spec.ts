import { describe, expect, it } from '@jest/globals';
import { DIGITS, personalMonth, type ReadingResult } from '#numerology/index.js';
import type { Person } from '../testing/random-people.js';
import { SAMPLES } from '../testing/samples.js';
import { LOCALES, trialDocument, trialResult } from '../testing/trial.js';
import { renderMarkdown } from '../../markdown/render.js';
import { isBeyond } from '../facts.js';

type Table = readonly (readonly string[])[];

/** The tables of the printed page, each as its rows without the head. */
const tablesOf = (markdown: string): Table[] => {
  const tables: string[][][] = [];
  let before = '';
  for (const line of markdown.split('\n')) {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (line.startsWith('|') && !before.startsWith('|')) tables.push([cells]);
    else if (line.startsWith('|')) tables.at(-1)?.push(cells);
    before = line;
  }
  return tables.map(([, , ...rows]) => rows);
};

interface Sum {
  readonly addends: readonly number[];
  /** From the total to the number kept. */
  readonly chain: readonly number[];
  readonly last: number;
}

const numberIn = (text: string): number =>
  Number(/(\d+(?:[.,]\d+)?)$/.exec(text.trim())?.[1]?.replace(',', '.'));

/** Does the arithmetic of « 6 + 6 + 1 = 13 → 4 », « 37 − 4 = 33 » and « C 3 + A 1 = 4 » again, as a reader would. */
const redo = (text: string): Sum => {
  const [left = '', right = left] = text.split(' = ');
  const addends = left.split(/ [+−] /).map((part) => numberIn(part.split(' → ')[0] ?? ''));
  const total = left.includes('−')
    ? addends.slice(1).reduce((rest, each) => rest - each, addends[0] ?? 0)
    : addends.reduce((sum, each) => sum + each, 0);
  const chain = right.split(' → ').map(numberIn);
  expect([text, chain[0]]).toEqual([text, total]);
  chain.slice(1).forEach((step, at) => {
    const digits = [...String(chain[at])].reduce((sum, digit) => sum + Number(digit), 0);
    expect([text, step]).toEqual([text, digits]);
  });
  return { addends, chain, last: chain.at(-1) ?? 0 };
};

const single = (value: number): number => (value === 0 ? 0 : 1 + ((value - 1) % 9));

const pageOf = (person: Person, locale: 'fr-FR' | 'en-US') => {
  const document = trialDocument({ person, locale, gender: 'neutral' });
  const children = document.children.filter(({ role }) => role === 'method');
  return renderMarkdown({ ...document, children });
};

const lettersIn = (cell: string): string[] =>
  cell === '–' ? [] : (cell.split(' = ')[0]?.split(' + ') ?? []);

/** Redoes every number from the printed page and compares it with the result. */
const redoPage = (page: string, result: ReadingResult): void => {
  const [
    letters = [],
    words = [],
    date = [],
    chains = [],
    grid = [],
    planes = [],
    cycles = [],
    challenges = [],
    ...rest
  ] = tablesOf(page);
  const worth = new Map(
    letters.flatMap((row) => row.map((letter, at): [string, number] => [letter, at + 1])),
  );
  const valueOf = (text: string): number => worth.get(text.charAt(0)) ?? Number.NaN;

  // The words: letters, values, vowels and consonants.
  const counted = result.normalization.words.map((word, at) => {
    const rows = [0, 1, 2].map((row) => words[3 * at + row]?.[1] ?? '');
    const [all = [], vowels = [], consonants = []] = rows.map(lettersIn);
    expect(all.map((letter) => letter.charAt(0)).join('')).toBe(word.letters);
    all.forEach((letter) => expect(numberIn(letter)).toBe(valueOf(letter)));
    expect([...vowels, ...consonants].sort()).toEqual([...all].sort());
    return {
      sums: rows.map((row) => (row === '–' ? undefined : redo(row))),
      letters: all,
      group: word.group,
    };
  });

  const [month = 0, day = 0, year = 0] = date.map(([, steps = '']) => redo(steps).last);
  const ofDate = result.subject.dateOfBirth.split('-').map(Number);
  expect(date.map(([, steps = '']) => redo(steps).addends[0])).toEqual([ofDate[1], ofDate[2], ofDate[0]]);

  // The numbers: each from what stands further up.
  const sums = chains.map(([, cell = '']) => (cell === '–' ? undefined : redo(cell)));
  const keys = ['lifePath', 'birthday', 'expression', 'soulUrge', 'personality', 'active', 'heredity', 'maturity', 'balance',
    'rationalThought', 'subconsciousSelf'] as const; // prettier-ignore
  expect(sums.map((sum) => sum?.last ?? null)).toEqual(keys.map((key) => result.numbers[key].value));
  expect(sums[0]?.addends).toEqual([month, day, year]);
  [0, 1, 2].forEach((role) => {
    const parts = counted.flatMap(({ sums: own }) => own[role] ?? []);
    const addends = parts.length === 1 ? [parts[0]?.chain[0]] : parts.map(({ last }) => last);
    if (parts.length > 0) expect(sums[2 + role]?.addends).toEqual(addends);
  });
  const ofGroup = (group: string) => counted.filter((word) => word.group === group);
  const totals = (group: string) => ofGroup(group).map(({ sums: [all] }) => all?.chain[0]);
  expect(sums[5]?.addends).toEqual(totals('first'));
  expect(sums[6]?.addends).toEqual(totals('last'));
  expect(sums[7]?.addends).toEqual([sums[0]?.last, sums[2]?.last]);
  expect(sums[8]?.addends).toEqual(counted.map(({ letters: [initial = ''] }) => valueOf(initial)));
  expect(sums[9]?.addends).toEqual([counted[0]?.sums[0]?.chain[0], ofDate[2]]);
  const debts = keys.slice(0, 5).flatMap((key, at) => {
    const debt = sums[at]?.chain.slice(0, -1).find((step) => [13, 14, 16, 19].includes(step));
    return debt === undefined ? [] : [{ debt, at: `numbers.${key}` }];
  });
  expect(debts).toEqual(result.karmicDebts.map(({ debt, at }) => ({ debt, at })));

  // The grid and the planes.
  const all = counted.flatMap((word) => word.letters);
  const counts = DIGITS.map((digit) => all.filter((letter) => valueOf(letter) === digit).length);
  expect(grid[0]?.map(Number)).toEqual(counts);
  expect(DIGITS.filter((_, at) => counts[at] === 0)).toEqual(result.grid.lessons);
  expect(DIGITS.filter((_, at) => counts[at] === Math.max(...counts))).toEqual(result.grid.hiddenPassion);
  expect(sums[10]?.addends).toEqual([9, result.grid.lessons.length]);
  for (const [, members = '', count] of planes) {
    expect(Number(count)).toBe(all.filter((letter) => members.includes(letter.charAt(0))).length);
  }

  // The cycles.
  const stages = [...result.cycles.periods, ...result.cycles.pinnacles];
  expect(cycles.map(([, , cell = '']) => redo(cell).last)).toEqual(stages.map(({ value }) => value));
  cycles.forEach(([, from = ''], at) => {
    const [sum = '', inYear] = from.split(' (');
    if (stages[at]?.fromAge === 0) return;
    expect([redo(sum).last, Number(inYear?.slice(0, -1))]).toEqual([
      stages[at]?.fromAge,
      stages[at]?.fromYear,
    ]);
  });
  const { first, second, main, fourth } = result.cycles.challenges;
  expect(challenges.map(([, cell = '']) => redo(cell).last)).toEqual([first, second, main, fourth]);

  // The year and the weights.
  const [years, months, weights] = isBeyond(result) ? [undefined, undefined, rest[0]] : rest;
  if (years) {
    const { now } = result;
    const cell = (at: number): string => years[at]?.[1] ?? '';
    expect(redo(cell(1))).toMatchObject({
      addends: [single(month), single(day), redo(cell(0)).last],
      last: now.personalYear,
    });
    expect(redo(cell(3)).last).toBe(now.nextPersonalYear);
    const inForce = [4, 5, 6].map((at) => {
      const [, round, age, letter = ''] = /\((\d+)\), (.+), (\S+\s\d)$/.exec(cell(at)) ?? [];
      let left = redo(age ?? '').last;
      const group = at === 4 ? 'first' : at === 5 && ofGroup('middle').length > 0 ? 'middle' : 'last';
      const own = ofGroup(group).flatMap((word) => word.letters);
      expect(own.reduce((sum, each) => sum + valueOf(each), 0)).toBe(Number(round));
      const found = own.find((each) => (left -= valueOf(each)) < 0);
      expect(found?.charAt(0)).toBe(letter.charAt(0));
      return found ?? '';
    });
    expect(inForce.map((letter) => letter.charAt(0))).toEqual(Object.values(now.transits));
    expect(redo(cell(7))).toMatchObject({ addends: inForce.map(valueOf), last: now.essence.value });
  }
  const [asOfYear = 0, asOfMonth = 0] = result.asOf.split('-').map(Number);
  months?.forEach(([, cell = ''], at) => {
    const [inYear, inMonth] = [
      asOfYear + Math.floor((asOfMonth - 1 + at) / 12),
      ((asOfMonth - 1 + at) % 12) + 1,
    ];
    const years = [result.now.personalYear, result.now.nextPersonalYear];
    expect(redo(cell).addends).toEqual([years[inYear - asOfYear], inMonth]);
    expect(redo(cell).last).toBe(
      personalMonth({ month: ofDate[1] ?? 0, day: ofDate[2] ?? 0 }, inYear, inMonth),
    );
  });
  if (!isBeyond(result)) expect(months).toHaveLength(12);
  for (const [digit, cell = ''] of weights ?? []) {
    const [left = '', sum = left] = cell.split(' = ');
    const addends = left.split(' + ').map(numberIn);
    expect(addends.reduce((whole, each) => whole + each, 0)).toBe(numberIn(sum));
    expect(Object.entries(result.synthesis.weights)).toContainEqual([digit, numberIn(sum)]);
  }
};

const person = (first: string, middle: string[], last: string, dateOfBirth: string): Person => ({
  name: { firstNames: [first], middleNames: middle, lastNames: [last] },
  dateOfBirth,
});

describe('The page of the method', () => {
  const people = [
    ...SAMPLES.map((sample) => sample.person),
    person('Maya', ['Wyatt', 'Lynn'], 'Tanya-Young Jr.', '2026-03-14'),
  ];

  it.each(LOCALES)('gives every number of the reading to who redoes the sums: %s', (locale) => {
    for (const each of people) {
      redoPage(pageOf(each, locale), trialResult({ person: each, locale, gender: 'neutral' }));
    }
  });

  it.each([
    [
      'Maya',
      ['Wyatt', 'Lynn'],
      'Tanya-Young',
      '1990-01-02',
      'In MAYA, Y comes right after a vowel, so it is a consonant.',
    ],
    // To a single digit, by the year of birth.
    ['Ann', [], 'Lee', '1984-03-05', 'go on until a single one is left: 1984 → 22 → 4. Wherever'],
    // Published examples: 10 April 1986 and 4 May 1977.
    [
      'Ann',
      [],
      'Lee',
      '1986-04-10',
      'with month, day, and year added whole: 4 + 10 + 1986 = 2000 → 2. That makes 2 instead of 11/2.',
    ],
    [
      'Ann',
      [],
      'Lee',
      '1977-05-04',
      'every digit of the date in one row: 5 + 4 + 1 + 9 + 7 + 7 = 33. That makes 33/6 instead of 6.',
    ],
    ['Nguyễn', ['Thị'], 'Minh', '1984-11-22', 'it is still 6, and it becomes 7 on the birthday'],
    ['Jacob', ['Ronald'], 'Brown', '1978-08-20', 'The other usual methods end at the same numbers'],
  ])('says of %s %j %s, born on %s: %s', (first, middle, last, born, line) => {
    expect(pageOf(person(first, middle, last, born), 'en-US')).toContain(line);
  });

  it('says why a Y counts as it does once where the name repeats a word', () => {
    const page = pageOf(person('Mary', ['Mary'], 'Lynn', '1990-01-02'), 'en-US');
    expect(page.match(/In MARY, Y stands/g)).toHaveLength(1);
  });
});
