import { readEntry, type LoadedFile } from '#publishing/content/book/book.js';
import { label, prose, type EntryShape } from '#publishing/content/book/shape.js';
import type { Locale } from '#publishing/document/document.js';
import { describe, expect, it } from '@jest/globals';
import { loadBook, textsOf } from './book-texts.js';
import { checkBook, parityFaults } from './check-book.js';
import { brokenRules, keepsAgreement } from './lint.js';

const faultsOf = (shape: EntryShape, value: unknown): string[] => {
  const faults: string[] = [];
  readEntry('en-US', shape, value, (fault) => faults.push(fault));
  return faults;
};

const fileOf = (
  shape: EntryShape,
  values: Readonly<Record<string, unknown>>,
  { file = 'passion', locale = 'en-US' }: { file?: string; locale?: Locale } = {},
): LoadedFile => {
  const entries = Object.entries(values).map(([path, value]) => {
    const entry = readEntry(locale, shape, value, () => undefined);
    return { file, path, shape, entry };
  });
  return { file, entries, gaps: [], faults: [] };
};

/** The faults of a book with one text of so many words. */
const faultsIn = (locale: Locale, text: string, file = 'passion', path = 'a', words = 5): string[] =>
  checkBook(locale, [fileOf(prose(words), { [path]: text }, { file, locale })]).map(({ fault }) => fault);

describe.each(['fr-FR', 'en-US'] as const)('The book in %s', (locale) => {
  it('has no gap and no fault', () => {
    const book = loadBook(locale);
    expect(book.flatMap(({ file, gaps }) => gaps.map((path) => `${file} ${path}`))).toEqual([]);
    expect(checkBook(locale, book)).toEqual([]);
  });
});

it('Both books fill the same placeholders into the same frames', () => {
  expect(parityFaults()).toEqual([]);
});

it('The books say nothing alike, and a gendered French text is rewritten for the neutral form', () => {
  const [french, english] = [textsOf(loadBook('fr-FR')), textsOf(loadBook('en-US'))];
  const inFrench = new Set(french.map(({ forms }) => forms.neutral));
  expect(english.filter(({ forms: { neutral } }) => neutral.length > 20 && inFrench.has(neutral))).toEqual(
    [],
  );
  const gendered = french.filter(({ forms }) => forms.feminine !== forms.masculine);
  expect(gendered.map(({ at }) => at)).toContain('frames/opening born');
  for (const { forms } of gendered) expect([forms.feminine, forms.masculine]).not.toContain(forms.neutral);
});

it.each([
  [prose(5, { uses: ['number'] }), 'No number.', 'uses the placeholders (none) instead of (number)'],
  [prose(5, { forms: 3 }), ['One.', 'Two.'], 'has 2 of 3 forms'],
  [prose(5, { by: 'expression' }), [{ when: '1-5-7', text: 'One.' }], 'has no form for when: 2-4-8'],
  [prose(5), { text: 'One.', when: '2-4-8' }, 'takes no when'],
  [prose(5), { text: 'One.', when: '2-3' }, 'when is none of 1-5-7, 2-4-8, 3-6-9'],
  [prose(5, { traits: true }), 'One.', 'has a form without traits'],
  [prose(5), { text: 'One.', traits: ['courage+'] }, 'traits: courage+ is not in the list'],
  [prose(5, { ages: ['80+'] }), 'One.', 'has a form without a text for ages 80+'],
  [prose(5), { text: 'One.', ages: { '5-6': 'Two.' } }, 'unknown key 5-6'],
] as const)('An entry names what its shape misses', (shape, value, fault) => {
  expect(faultsOf(prose(5), 'A plain text.')).toEqual([]);
  expect(faultsOf(shape, value)).toContain(fault);
});

describe('The check of the book', () => {
  it.each([
    [prose(20), { a: 'Far too short.' }, '3 words instead of 15–25'],
    [
      prose(5, { uses: ['number'] }),
      { a: 'This is a {number} year.' },
      'an article before what is filled in',
    ],
    [
      prose(6),
      { a: 'You open the box and laugh.', b: 'You open the box to cry.' },
      'opens like passion b: "you open the box"',
    ],
    [
      prose(9),
      { a: 'It sits there like a boat in some harbor.', b: 'Something goes by like a boat on wheels.' },
      'has the image of passion b: "boat"',
    ],
  ])('finds a fault', (shape, values, fault) => {
    expect(checkBook('en-US', [fileOf(shape, values)]).map((each) => each.fault)).toContain(fault);
  });

  it.each([
    ['fr-FR', '7-15', 'Votre patron passe.', 'patron'],
    ['en-US', '80+', 'Keep the spreadsheet for them.', 'spreadsheet'],
  ] as const)('finds a scene that rings false, in %s at %s', (locale, band, text, scene) => {
    expect(faultsIn(locale, text)).toContain(`rings false at ${band}: "${scene}"`);
  });

  // Each stood in a reading.
  it.each([
    ['fr-FR', '16-29', 'Avec ce 5, vous voudriez tout donner, tout quitter, partir avec une brosse à dents.'],
    ['fr-FR', '7-15', 'Présentez un travail soigné, puis laissez-y une petite faute exprès.'],
    ['en-US', '16-29', 'Inside is somebody who would like to leave on Thursday with a toothbrush.'],
    ['en-US', '80+', 'Hand on the watch, the roses, while you can see the faces.'],
  ] as const)('finds what is unfit for an age, in %s at %s: %s', (locale, band, text) => {
    const faults = faultsIn(locale, text, 'passion', 'a', 15);
    expect(faults.filter((fault) => fault.startsWith(`unfit at ${band}`))).toHaveLength(1);
  });

  it.each([
    ['en-US', 'The towel is open, you turn your head for a second, and it’s an empty towel.'],
    ['fr-FR', 'On découpe avec des ciseaux.'],
  ] as const)('finds what is unsafe for a small child, in texts for parents, in %s: %s', (locale, text) => {
    const unsafe = (file: string) =>
      faultsIn(locale, text, file).filter((fault) => fault.startsWith('unsafe for a small child'));
    expect([unsafe('under7/5').length, unsafe('passion').length]).toEqual([1, 0]);
  });

  it.each([
    ['fr-FR', 'C’est plus calme qu’avant.', 'qu’avant'],
    ['en-US', 'It is calmer than before.', 'than before'],
  ] as const)('finds an earlier time in a first stage, in %s', (locale, text, found) => {
    const fault = `compares with an earlier time: "${found}"`;
    for (const [file, path] of [
      ['periods/first', '3'],
      ['pinnacles/current', '3'],
      ['synthesis/moment', '3.first'],
    ] as const)
      expect(faultsIn(locale, text, file, path)).toContain(fault);
    for (const [file, path] of [
      ['synthesis/moment', '3.second'],
      ['periods/third', '3'],
    ] as const)
      expect(faultsIn(locale, text, file, path)).not.toContain(fault);
  });

  it('finds one label at one position for two numbers', () => {
    const values = {
      '1.expression.theme': 'the start',
      '2.expression.theme': 'the start',
      '2.active.theme': 'the start',
    };
    expect(checkBook('en-US', [fileOf(label(), values, { file: 'labels' })])).toEqual([
      { at: 'labels 2.expression.theme', fault: 'has the label of 1' },
    ]);
  });

  it.each([
    ['passion', 'active', 2],
    ['under7/1', 'under7/2', 2],
    ['passion', 'under7/1', 0],
  ])('finds eight words in a row that %s and %s share, within one book', (one, other, faults) => {
    const text = 'It sits there all day and waits for you.';
    const files = [one, other].map((file) => fileOf(prose(9), { a: text }, { file }));
    expect(checkBook('en-US', files).filter(({ fault }) => fault.startsWith('repeats'))).toHaveLength(faults);
  });

  it('lets forms of one entry share an image, because they never meet', () => {
    const forms = ['It sits there like a boat in harbor.', 'Something goes by like a boat on wheels.'];
    expect(checkBook('en-US', [fileOf(prose(8, { forms: 2 }), { a: forms })])).toEqual([]);
  });
});

describe('The lint', () => {
  it.each([
    ['fr-FR', 'health', 'On y voit une dépression.'],
    ['fr-FR', 'promise', 'Vous rencontrerez quelqu’un.'],
    ['fr-FR', 'borrowed or obscure', 'Au final, vous partez.'],
    ['fr-FR', 'space before ; ? !', 'Vraiment?'],
    ['fr-FR', 'elision before a name', 'Prenons les lettres de Yvonne Dupuis.'],
    ['fr-FR', 'agreement after a verb of state', 'Vous restez plus attentif que les autres.'],
    ['fr-FR', 'agreement at the head of a clause', 'Né un 15 juin, vous aimez l’été.'],
    ['fr-FR', '« tu »', 'Et toi, que veux-tu\u202F?'],
    ['en-US', 'death', 'You see a graveyard.'],
    ['en-US', 'promise', 'In 2027 you will move.'],
    ['en-US', 'punctuation outside the quote', 'He said “no”.'],
    ['en-US', 'digit at the head of a sentence', 'One waits. 3 is a number.'],
    ['en-US', 'British spelling', 'A neighbour in the centre.'],
  ] as const)('names the fault in %s: %s, %s', (locale, rule, text) => {
    expect(brokenRules(locale, text)).toContain(rule);
  });

  it.each([
    'Vous êtes libre et vous restez calme.',
    'On vous croit dans la lune, et vous savez qui appeler.',
    'Demandez «\u00A0et toi, que veux-tu\u202F?\u00A0»',
  ])('lets a sentence agree with nobody: %s', (text) => {
    expect(brokenRules('fr-FR', text)).toEqual([]);
  });

  it('sees a neutral form that keeps a word of another', () => {
    const forms = {
      feminine: 'Prévenue, vous tenez.',
      masculine: 'Prévenu, vous tenez.',
      neutral: 'Prévenu, on tient.',
    };
    expect(keepsAgreement(forms)).toBe(true);
    expect(keepsAgreement({ ...forms, neutral: 'Une fois au courant, on tient.' })).toBe(false);
  });
});
