import type { Block, DocumentV1, Locale, Section } from '#publishing/document/document.js';
import { numberRef, paragraph, text } from '#publishing/document/nodes.js';
import type { Person } from '#publishing/document/testing/random-people.js';
import { LOCALES, trialDocument } from '#publishing/document/testing/trial.js';
import { describe, expect, it } from '@jest/globals';
import { readingFaults } from './reading-rules.js';
import { proseOf, repeatedSentences } from './text.js';

const name = (firstName: string, lastName: string) => ({
  firstNames: [firstName],
  middleNames: [],
  lastNames: [lastName],
});
const camille: Person = { name: name('Camille', 'Laurent'), dateOfBirth: '1990-06-15' };
const documentOf = (locale: Locale, person = camille): DocumentV1 =>
  trialDocument({ person, locale, gender: 'neutral' });

/** A reading with these blocks in place of its opening. */
const opening = (locale: Locale, ...children: readonly Block[]): DocumentV1 => {
  const document = documentOf(locale);
  const [first, ...others] = document.children;
  return { ...document, children: [{ ...(first as Section), children }, ...others] };
};

const saying = (locale: Locale, ...paragraphs: readonly string[]): DocumentV1 =>
  opening(locale, ...paragraphs.map((value, at) => paragraph(`planted.${at}`, [text(value)])));

const faultsOf = (document: DocumentV1): string => readingFaults(document).join('\n');

describe('A whole reading', () => {
  it.each([
    ['fr-FR', 'Vos lettres laissent quelques nombres : 1, 2, 3, 4 et 5.'],
    ['fr-FR', 'Plusieurs valeurs manquent : 3 et 8.'],
    ['fr-FR', 'Ces valeurs reviennent autant l’une que l’autre : 2, 5 et 9.'],
    ['en-US', 'The name does without a few values: 1, 2, 3, 4, and 5.'],
    ['en-US', 'Several values have no letter, namely 3 and 8.'],
    ['en-US', 'Both are tied, 2, 5, and 9.'],
  ] as const)('does not say wrongly how many, in %s: %s', (locale, sentence) => {
    expect(faultsOf(saying(locale, sentence))).toContain(`says wrongly how many: ${sentence}`);
  });

  it.each([
    ['fr-FR', 'Vos lettres laissent quelques nombres : 1, 2 et 5.'],
    ['fr-FR', 'Plusieurs valeurs manquent : 3, 4 et 8.'],
    ['en-US', 'Several values have no letter, namely 3, 4, and 8.'],
    ['en-US', 'Under the 3, a few of them, with the exaggeration taken off, are better.'],
  ] as const)('may say how many, in %s: %s', (locale, sentence) => {
    expect(faultsOf(saying(locale, sentence))).not.toContain('how many');
  });

  it.each([
    ['fr-FR', 'Vous tenez comme une lampe.', 'La soirée s’éteint comme la lampe.', 'lampe'],
    ['fr-FR', 'Une telle lampe.', 'Tel un phare.', undefined],
    ['en-US', 'You last like a lamp.', 'The evening goes out like the lamp.', 'lamp'],
    ['en-US', 'You act like a person.', 'You sound like a person.', undefined],
  ] as const)('has the noun of an image once, in %s: %s %s', (locale, one, other, noun) => {
    const faults = faultsOf(saying(locale, one, other));
    if (noun) expect(faults).toContain(`the image of "${noun}" twice`);
    else expect(faults).not.toContain('the image of');
  });

  it('prints each master number with its root', () => {
    const bare = (value: string) =>
      opening('en-US', paragraph('planted.bare', [text('Your '), numberRef('numbers.lifePath', value)]));
    expect(faultsOf(bare('22'))).toContain('the master number 22 without its root');
    expect(faultsOf(bare('22/4'))).toBe('');
    const document = documentOf('en-US');
    const [first, ...others] = document.children;
    const titled = { ...document, children: [{ ...(first as Section), title: 'Period 11' }, ...others] };
    expect(faultsOf(titled)).toContain('the master number 11 without its root');
  });

  it.each([
    'A 8 comes again.',
    // As composition joins a text and a number.
    'You have a\u00A011/2 there.',
    'It runs to an 3.',
    'It is a 18 in all.',
    'A rare thing, a 80th birthday.',
  ])('gives a number the article of its spoken form: %s', (sentence) => {
    expect(faultsOf(saying('en-US', sentence))).toContain('a wrong article: ');
  });

  it('may say an 8, an 11/2, an 18, an 85th birthday, a 7, a 180 and a 110th birthday', () => {
    const right = 'An 8, an 11/2, an 18 and an 85th birthday, but a 7, a 1, a 180 and a 110th birthday.';
    expect(faultsOf(saying('en-US', right))).toBe('');
  });

  it('has no wrong article on the page of the method either', () => {
    const document = documentOf('en-US');
    const planted = paragraph('planted.method', [text('It is still a '), numberRef('now.personalYear', '8')]);
    const children = document.children.map((node) =>
      node.role === 'method' ? { ...node, children: [...node.children, planted] } : node,
    );
    expect(faultsOf({ ...document, children })).toBe('a wrong article: a 8');
  });

  it.each(['fr-FR', 'en-US'] as const)('sets the name as the text, in %s', (locale) => {
    for (const last of ["O'Neil", "d'Arc Jr."]) {
      const document = documentOf(locale, { ...camille, name: name('Tom', last) });
      expect(faultsOf(document)).toBe('');
      expect(document.subtitle).toBe(`Tom ${last.replace("'", '’')}`);
      expect(document.meta.subject.displayName).toBe(`Tom ${last}`);
    }
  });

  it('forecasts 1,500 words and twelve months, none over, and dates nothing before birth', () => {
    const newborn = documentOf('en-US', { ...camille, dateOfBirth: '2026-08-30' });
    expect(faultsOf(newborn)).toBe('');
    const changed = (change: (node: Section) => Section): DocumentV1 => ({
      ...newborn,
      children: newborn.children.map((node) => (node.role === 'year' ? change(node) : node)),
    });
    const early = paragraph('year.months.2026-08', [text('July 2025 was warm.')]);
    const faults = faultsOf(changed((node) => ({ ...node, children: [...node.children, early] })));
    expect(faults).toContain('a time before birth: 2025');
    expect(faults).toContain('a month that is over: 2026-08');
    expect(faults).toContain('13 months ahead');
    const short = changed((node) => ({ ...node, children: node.children.slice(0, 2) }));
    expect(faultsOf(short)).toMatch(/a forecast of \d{3,4} words/);
  });

  it.each(['2026-01-15', '2026-02-15', '2026-11-15', '2026-12-15'])(
    'has twelve months ahead on %s, and none with the text of another',
    (asOf) => {
      for (const locale of LOCALES) {
        for (const dateOfBirth of ['1990-06-15', '2021-06-15', asOf]) {
          const person = { ...camille, dateOfBirth };
          const document = trialDocument({ person, locale, gender: 'neutral', asOf });
          expect([...readingFaults(document), ...repeatedSentences(proseOf(document))]).toEqual([]);
        }
      }
    },
  );

  it.each(['fr-FR', 'en-US'] as const)('speaks to parents of a child under seven alone, in %s', (locale) => {
    const small = documentOf(locale, { ...camille, dateOfBirth: '2019-09-30' });
    const seven = documentOf(locale, { ...camille, dateOfBirth: '2019-09-29' });
    expect([faultsOf(small), faultsOf(seven)]).toEqual(['', '']);
    const path = (document: DocumentV1, from: DocumentV1): DocumentV1 => ({
      ...document,
      children: document.children.map(
        (node) => (node.role === 'path' ? from.children.find(({ role }) => role === 'path') : node) ?? node,
      ),
    });
    expect(faultsOf(path(small, seven))).toContain('speaks to the child: ');
    expect(faultsOf(path(seven, small))).toContain('speaks to parents: ');
  });
});
