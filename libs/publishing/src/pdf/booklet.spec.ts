import { describe, expect, it } from '@jest/globals';
import type { Block } from '../document/document.js';
import { composed } from '../document/testing/composed.js';
import { camille, minh } from '../document/testing/people.js';
import { bookletOf } from './booklet.js';
import { nameOnCover, namesOfWords } from './names.js';
import { pullQuoteIn } from './pull-quotes.js';
import { paragraph, section, table, text } from '../document/nodes.js';

const document = composed(camille, 'fr-FR', 'feminine');
const french = bookletOf(document, 'a4');
const english = bookletOf(composed(minh), 'us-letter');
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

describe('A booklet', () => {
  it('sets the letters of French ordinals as superiors, and leaves English ones on the line', () => {
    const superiors = nodesOf(french.tree, 'superior').map(({ value }) => value);
    expect(new Set(superiors)).toEqual(new Set(['e']));
    expect(nodesOf(english.tree, 'superior')).toEqual([]);
  });

  it('gathers the questions on its closing page, the last ones only there', () => {
    expect(english.closing?.questions).toHaveLength(4);
    for (const { children } of english.closing?.questions ?? [])
      expect(children.at(-1)).toMatchObject({ value: expect.stringMatching(/\?$/) });
    expect(
      nodesOf(english.tree, 'callout').filter((each) => 'variant' in each && each.variant === 'question'),
    ).toHaveLength(1);
  });
});

/** What is set of a paragraph, by the type of node. */
const setOf = (
  type: 'text' | 'whole' | 'unbroken',
  told: string,
  variant: 'lead' | 'body' = 'body',
  name = document.subtitle,
) => nodesOf(treeOf(paragraph('a', [text(told)], variant), name), type).map(({ value }) => value);

it('Large lines never break after the hyphen of a word, and other lines may', () => {
  const told = 'Un rendez-vous, puis 3-4 autres.';
  expect([setOf('unbroken', told, 'lead'), setOf('unbroken', told)]).toEqual([['rendez-vous,'], []]);
});

it.each([
  ['le reste.', 'le\u00A0reste.'],
  ['tout a été dit.', 'tout a été dit.'],
])('The last words of a long text stay together where both are short: %s', (told, set) => {
  const before = 'Vous êtes ici, et tout le monde le sait depuis longtemps déjà ; '.repeat(3);
  expect(setOf('text', before + told)).toContain(before + set);
});

it.each([
  ['lead', 'comptez les années.', 'les\u00A0années.'],
  ['body', 'sans que personne ait appelé.', 'ait\u00A0appelé.'],
  ['body', 'il dure ainsi jusqu’à votre 46e anniversaire.', '\u00A0anniversaire.'],
] as const)(
  'The last words of a short text stay together, without a hyphen: %s, %s',
  (variant, told, set) => {
    const before = 'Vous êtes ici, et tout le monde le sait depuis longtemps déjà ; ';
    expect(setOf('whole', before + told, variant)).toEqual([set]);
    expect(setOf('whole', told.slice(-20), 'body')).toEqual([]);
  },
);

it.each([
  ['Maud de La Tour', ['Maud de\u00A0La\u00A0Tour']],
  // No line is broken well around a word that long.
  ['Li Wolfeschlegelsteinhausenber', ['Li ']],
])('In running text no hyphen parts a name, and its parts stay together: %s', (name, set) => {
  const after = ', une personne comme les autres. Cela commence comme une histoire. '.repeat(3);
  expect(setOf('whole', `Voici ${name}${after}`, 'body', name)).toEqual(set);
});

it('A sum in a table breaks before its signs', () => {
  const values = nodesOf(english.tree, 'text').map(({ value }) => value);
  expect(values.filter((value) => / =\u00A0\d/u.test(value)).length).toBeGreaterThan(10);
  expect(values.filter((value) => / [+=→−] [\p{Lu}\d]/u.test(value))).toEqual([]);
});

it.each([
  ['J 1 + O 6 = 47 → 11 → 2', 'J\u00A01 +\u00A0O\u00A06\u00A0=\u00A047\u00A0→\u00A011\u00A0→\u00A02'],
  [
    'Soul Urge 2.5 + Hidden passion 1 = 3.5',
    'Soul\u00A0Urge\u00A02.5 +\u00A0Hidden\u00A0passion\u00A01\u00A0=\u00A03.5',
  ],
])('The end of a sum stays with it: %s', (sum, set) => {
  const value = sum.replace(/(?<=\p{Lu}) (?=\d)/gu, '\u00A0');
  const cells = table('a', ['left', 'left'], ['Word', 'Sum'], [['The widest word '.repeat(8), value]]);
  expect(nodesOf(treeOf(cells), 'text').map((text) => text.value)).toContain(set);
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
    ['fr-FR', 'Vous, vous ne savez plus par quel bout prendre les arbres.'],
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
