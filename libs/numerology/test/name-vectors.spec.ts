import { expect, it } from '@jest/globals';
import { calculateTheme, checkName, displayName, type StructuredName } from '../src/index.js';
import { readData } from './read-data.js';

interface Accepted {
  readonly name: StructuredName;
  readonly displayName: string;
  readonly words: readonly string[];
  readonly inclusion: Readonly<Record<string, number>>;
  readonly expression: number;
  readonly expressionChain: readonly number[];
  readonly soulUrge: number | null;
  readonly personality: number | null;
  readonly why: string;
}
interface Rejected {
  readonly name: StructuredName;
  readonly code: string;
  readonly why: string;
}

const { accept, reject } = JSON.parse(readData('numerology-name-vectors.json')) as {
  readonly accept: readonly Accepted[];
  readonly reject: readonly Rejected[];
};

it.each(accept)('A name is accepted: $why', (vector) => {
  expect(checkName(vector.name)).toEqual([]);
  const subject = { name: vector.name, dateOfBirth: '1990-06-15', subjectGender: 'neutral' } as const;
  const { normalization, grid, numbers, subject: shown } = calculateTheme(subject, '2026-09-29');
  expect(normalization.words.map(({ letters }) => letters)).toEqual(vector.words);
  expect(grid.counts).toEqual(vector.inclusion);
  expect(numbers.expression).toMatchObject({ value: vector.expression, chain: vector.expressionChain });
  expect([numbers.soulUrge.value, numbers.personality.value]).toEqual([vector.soulUrge, vector.personality]);
  expect(shown.displayName).toBe(vector.displayName);
});

// The request schema refuses a value that is not an array of strings, so it never becomes a StructuredName.
it.each(reject.filter(({ code }) => code !== 'type'))('A name is refused: $why', ({ name, code }) => {
  const problems = checkName(name);
  expect([...new Set(problems.map((problem) => problem.code))]).toEqual([code]);
  const submitted = [...name.firstNames, ...name.middleNames, ...name.lastNames];
  const longEnough = submitted.filter((element) => element.trim().length > 3);
  for (const element of longEnough) expect(JSON.stringify(problems)).not.toContain(element);
});

it('A name is shown in the spelling of the caller, with single spaces alone', () => {
  const name = { firstNames: ['  Ada  May '], middleNames: ['É'], lastNames: ['de\u00A0 Lovelace  '] };
  expect(displayName(name)).toBe('Ada May É de Lovelace');
});
