import { describe, expect, it } from '@jest/globals';
import { DIGITS } from '#numerology/index.js';
import { bookFor } from '../../content/book/book.js';
import { randomPerson } from '../testing/random-people.js';
import type { Inline } from '../document.js';
import { composed, nodesOf } from '../testing/composed.js';
import { type Person, resultOf } from '../testing/people.js';
import { planTexts } from '../truth.js';

const english = bookFor('en-US');
const textOfInline = (node: Inline): string =>
  'children' in node ? node.children.map(textOfInline).join('') : node.value;

describe('Tied passions', () => {
  const intro = (person: Person): string => {
    const told = nodesOf(composed(person)).find(({ id }) => id === 'grid.passion.intro');
    return told?.type === 'paragraph' ? told.children.map(textOfInline).join('') : '';
  };
  const explained = (person: Person): string[] =>
    nodesOf(composed(person)).flatMap(({ id }) => /^grid\.passion\.(\d)$/.exec(id)?.[1] ?? []);
  const endings = (frame: string, value: string): string[] =>
    english.entry(`frames/grid ${frame}`).map(({ text }) => text.neutral.replace(/\{\w+\}/, value));

  it('say which of many the page tells', () => {
    const sophia: Person = {
      name: { firstNames: ['Sophia'], middleNames: ['Olivia'], lastNames: ['Young'] },
      dateOfBirth: '1985-08-06',
    };
    expect(resultOf(sophia).grid.hiddenPassion).toEqual([1, 6, 7, 9]);
    expect(explained(sophia)).toEqual(['1', '6']);
    const ending = endings('passionToldMany', '1 and 6').filter((each) => intro(sophia).endsWith(each));
    expect(ending).toHaveLength(1);
  });

  it.each([
    ['Bo', 'Li', '1999-05-16', '2, 3, 6, and 9'],
    ['Max', 'Ely', '1999-05-16', '1, 3, 4, 5, 6, and 7'],
    ['Max', 'Ely', '2024-05-16', '1, 3, 4, 5, 6, and 7'],
  ])('get no text of many letters where each has one: %s %s, %s', (first, last, dateOfBirth, numbers) => {
    const person = { name: { firstNames: [first], middleNames: [], lastNames: [last] }, dateOfBirth };
    expect(explained(person)).toEqual([]);
    expect(endings('passionEach', numbers)).toContain(intro(person));
  });

  it('say which of two the page tells, where the other would contradict it', () => {
    const leaves = (person: Person): boolean =>
      [...planTexts(english, resultOf(person)).leftOut].some((key) => key.startsWith('passion '));
    const person = Array.from({ length: 400 }, (_, seed) => randomPerson(seed)).find(
      (each) => leaves(each) && resultOf(each).grid.hiddenPassion.length === 2,
    );
    const [only = '', ...others] = explained(person as Person);
    expect(others).toEqual([]);
    expect(
      endings('passionToldOne', only).filter((each) => intro(person as Person).endsWith(each)),
    ).toHaveLength(1);
  });

  it('say nothing of it where the page tells both', () => {
    const name = { firstNames: ['Dorothy'], middleNames: ['Sharon'], lastNames: ['Sanchez'] };
    const dorothy: Person = { name, dateOfBirth: '1968-05-10' };
    expect(resultOf(dorothy).grid.hiddenPassion).toEqual([1, 8]);
    expect(explained(dorothy)).toEqual(['1', '8']);
    const tie = english
      .entry('frames/grid passionTie')
      .map(({ text }) => text.neutral.replace('{numbers}', '1 and 8').replace('{count}', '4 letters'));
    expect(tie).toContain(intro(dorothy));
  });
});

describe('A missing value that no main number supplies', () => {
  it('is said to be missing from letters and main numbers, since cycles, years and Balance may have it', () => {
    const texts = DIGITS.flatMap((digit) =>
      english.entry(`lessons ${digit}.plain`).map(({ text }) => text.neutral),
    );
    expect(texts).toHaveLength(9);
    expect(texts.filter((text) => /\b(?:chart|nowhere|anywhere)\b/.test(text))).toEqual([]);
  });
});
