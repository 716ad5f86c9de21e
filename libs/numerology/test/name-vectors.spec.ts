import { describe, expect, it } from '@jest/globals';
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

describe('an accepted name', () => {
  it.each(accept.map((vector) => [vector.why, vector] as const))('%s', (_why, vector) => {
    expect(checkName(vector.name)).toEqual([]);
    const theme = calculateTheme(
      { name: vector.name, dateOfBirth: '1990-06-15', subjectGender: 'neutral' },
      '2026-09-29',
    );
    expect(theme.normalization.words.map(({ letters }) => letters)).toEqual(vector.words);
    expect(theme.grid.counts).toEqual(vector.inclusion);
    expect(theme.numbers.expression.value).toBe(vector.expression);
    expect(theme.numbers.expression.chain).toEqual(vector.expressionChain);
    expect(theme.numbers.soulUrge.value).toBe(vector.soulUrge);
    expect(theme.numbers.personality.value).toBe(vector.personality);
    expect(theme.subject.displayName).toBe(vector.displayName);
  });
});

describe('a refused name', () => {
  // The request schema refuses a value that is not an array of strings, so it never becomes a StructuredName.
  const named = reject.filter(({ code }) => code !== 'type');

  it('leaves three vectors to the request schema', () => expect(reject.length - named.length).toBe(3));

  it.each(named.map((vector) => [vector.why, vector] as const))('%s', (_why, { name, code }) => {
    const problems = checkName(name);
    expect([...new Set(problems.map((problem) => problem.code))]).toEqual([code]);
    const submitted = [...name.firstNames, ...name.middleNames, ...name.lastNames];
    const longEnough = submitted.filter((element) => element.trim().length > 3);
    for (const element of longEnough) expect(JSON.stringify(problems)).not.toContain(element);
  });
});

describe('a name as it is shown', () => {
  it('has the spelling of the caller, and single spaces alone', () => {
    const name = { firstNames: ['  Ada  May '], middleNames: ['É'], lastNames: ['de\u00A0 Lovelace  '] };
    expect(displayName(name)).toBe('Ada May É de Lovelace');
  });
});
