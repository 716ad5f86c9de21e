import { describe, expect, it } from '@jest/globals';
import type { Block } from '../document/document.js';
import { composed } from '../document/testing/composed.js';
import { camille } from '../document/testing/people.js';
import { bookletOf } from './booklet.js';
import { nameOnCover, namesOfWords } from './names.js';
import { pullQuoteIn } from './pull-quotes.js';
import { paragraph, section, text } from '../document/nodes.js';

const document = composed(camille, 'fr-FR', 'feminine');
/** The tree of the booklet of a document with one block. */
const treeOf = (block: Block, subtitle = document.subtitle): object =>
  bookletOf({ ...document, subtitle, children: [section('a', 'opening', 'Ici', [block])] }, 'a4').tree;

/** All nodes of a type. */
const nodesOf = (tree: unknown, type: string): { value: string }[] => {
  if (Array.isArray(tree)) return tree.flatMap((each) => nodesOf(each, type));
  if (tree === null || typeof tree !== 'object') return [];
  const inner = Object.values(tree).flatMap((each) => nodesOf(each, type));
  return 'type' in tree && tree.type === type ? [tree as never, ...inner] : inner;
};

/** The pieces of a paragraph that no hyphen parts. */
const wholeIn = (told: string, name: string) =>
  nodesOf(treeOf(paragraph('a', [text(told)]), name), 'whole').map(({ value }) => value);

it.each([
  ['Maud de La Tour', ['Maud de\u00A0La\u00A0Tour']],
  // No line is broken well around a word that long.
  ['Li Wolfeschlegelsteinhausenber', ['Li ']],
])('In running text no hyphen parts a name, and its parts stay together: %s', (name, set) => {
  const after = ', une personne comme les autres. Cela commence comme une histoire. '.repeat(3);
  expect(wholeIn(`Voici ${name}${after}`, name)).toEqual(set);
});

it.each([
  ['Anne-Sophie de La Tour', ['Anne-Sophie', 'de\u00A0La\u00A0Tour']],
  ['Robert Lee Smith Jr.', ['Robert', 'Lee', 'Smith\u00A0Jr.']],
])('The cover keeps the parts of a name together: %s', (name, parts) => {
  expect(nameOnCover(name)).toEqual(parts);
});

it.each([
  ['ANNESOPHIE MARIE VICTOIRE DE LA TOUR DU PIN', [[1], [1], [1], [3, 2]]],
  ['DE LA TOUR', [[3]]],
])('The letters keep the words of a name together: %s', (words, names) => {
  expect(namesOfWords(words.split(' '))).toEqual(names);
});

describe('A pull quote', () => {
  const quotable = 'You notice the smallest change in a room before anybody speaks.';
  const filler = 'The road is long and the weather changes. '.repeat(12).trim();
  const grey = (second: string) =>
    section('name.expression', 'subsection', 'How you act', [
      paragraph('a', [text(filler)]),
      paragraph('b', [text(`${filler} ${second}`)]),
      paragraph('c', [text(filler)]),
    ]);

  it('stands before the paragraph that it is from', () => {
    expect(pullQuoteIn('en-US', grey(quotable))).toEqual({ sentence: quotable, after: 0 });
  });

  it('stands away from its sentence', () => {
    const early = (at: number) =>
      section('name.expression', 'subsection', 'How you act', [
        ...[0, 1, 2].map((index) =>
          paragraph(`p${index}`, [text(index === at ? `${quotable} ${filler}` : filler)]),
        ),
      ]);
    expect(pullQuoteIn('en-US', early(2))).toEqual({ sentence: quotable, after: 0 });
    expect(pullQuoteIn('en-US', early(1))).toBeUndefined();
  });

  it.each([
    ['fr-FR', 'Vous connaissez sans doute les deux humeurs.'],
    ['fr-FR', 'Votre voisine de table a parfois l’impression d’habiter trop près.'],
    ['en-US', 'You do it for them, and nobody ever asks why you still bother.'],
    ['en-US', 'You have 3 of these letters, more than most people get.'],
  ] as const)('is no sentence that points elsewhere, in %s: %s', (locale, sentence) => {
    expect(pullQuoteIn(locale, grey(sentence))).toBeUndefined();
    expect(pullQuoteIn('fr-FR', grey('Vous jouez quatre morceaux de guitare jusqu’au pont.'))).toBeDefined();
  });

  it('is not needed on a page that has little text', () => {
    const [first] = grey(quotable).children;
    const short = section('a', 'subsection', 'Short', [first!, paragraph('b', [text(quotable)])]);
    expect(pullQuoteIn('en-US', short)).toBeUndefined();
  });
});
