import { describe, expect, it } from '@jest/globals';
import { renderMarkdown } from '../../markdown/render.js';
import { SAMPLES } from '../testing/samples.js';
import { type Trial, trialDocument, trialResult } from '../testing/trial.js';

const page = (trial: Trial): string => {
  const document = trialDocument(trial);
  const children = document.children.filter(({ role }) => role === 'method');
  return renderMarkdown({ ...document, children });
};
const pageOf = (firstNames: string[], middleNames: string[], lastNames: string[], dateOfBirth: string) => {
  const person = { name: { firstNames, middleNames, lastNames }, dateOfBirth };
  return page({ person, locale: 'en-US', gender: 'neutral' });
};

/** The rows of all tables, cell by cell, without blanks around. */
const rowsOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));

const numberIn = (text: string): number =>
  Number(/(\d+(?:[.,]\d+)?)$/.exec(text.trim())?.[1]?.replace(',', '.'));

/** Does « 6 + 6 + 1 = 13 → 4 », « 37 − 4 = 33 » or « C 3 + A 1 = 4 » again, as a reader would. @returns its end */
const redo = (sum: string): number => {
  const [left = '', right = left] = sum.split(' = ');
  const [first = NaN, ...others] = left.split(/ [+−] /).map((part) => numberIn(part.split(' → ')[0]!));
  const sign = left.includes('−') ? -1 : 1;
  const chain = right.split(' → ').map(numberIn);
  expect([sum, chain[0]]).toEqual([sum, others.reduce((total, each) => total + sign * each, first)]);
  chain.slice(1).forEach((step, at) => {
    const digits = [...String(chain[at])].reduce((total, digit) => total + Number(digit), 0);
    expect([sum, step]).toEqual([sum, digits]);
  });
  return chain.at(-1)!;
};

describe('The page of the method', () => {
  it.each(SAMPLES)('gives the sums of every number to who redoes them: $slug', (sample) => {
    const cells = rowsOf(page(sample)).flat();
    const sums = cells.flatMap((cell) => cell.match(/^[^(]*\d [=→] \d[\d →.,]*(?= \(|$)/) ?? []);
    const ends = sums.map(redo);
    expect(sums.length).toBeGreaterThan(20);
    const { lifePath, expression, maturity } = trialResult(sample).numbers;
    expect(ends).toEqual(expect.arrayContaining([lifePath.value, expression.value, maturity.value]));
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
    expect(pageOf([first], middle, [last], born)).toContain(line);
  });

  it('says why a Y counts as it does once where the name repeats a word', () => {
    const told = pageOf(['Mary'], ['Mary'], ['Lynn'], '1990-01-02');
    expect(told.match(/In MARY, Y stands/g)).toHaveLength(1);
  });
});
