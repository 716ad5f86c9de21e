import { describe, expect, it } from '@jest/globals';
import { bookFor } from '../../content/book/book.js';
import { randomPerson } from '../../content/random-people.js';
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
    const bo: Person = {
      name: { firstNames: ['Bo'], middleNames: [], lastNames: ['Li'] },
      dateOfBirth: '1999-05-16',
    };
    expect(resultOf(bo).grid.hiddenPassion).toEqual([2, 3, 6, 9]);
    expect(explained(bo)).toEqual(['2', '3']);
    expect(endings('passionToldMany', '2 and 3').filter((each) => intro(bo).endsWith(each))).toHaveLength(1);
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
