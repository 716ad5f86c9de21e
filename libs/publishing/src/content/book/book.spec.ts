import { describe, expect, it } from '@jest/globals';
import { checkBook } from './check.js';
import { readEntry } from './entry.js';
import { loadBook, type LoadedFile } from './load.js';
import { prose, type EntryShape } from './shape.js';

const faultsOf = (shape: EntryShape, value: unknown): string[] => {
  const faults: string[] = [];
  readEntry('en-US', shape, value, (fault) => faults.push(fault));
  return faults;
};

const fileOf = (
  shape: EntryShape,
  values: Readonly<Record<string, unknown>>,
  file = 'passion',
): LoadedFile => {
  const entries = Object.entries(values).map(([path, value]) => {
    const entry = readEntry('en-US', shape, value, () => undefined);
    return { file, path, shape, entry };
  });
  return { file, entries, gaps: [], faults: [] };
};

const checked = (shape: EntryShape, values: Readonly<Record<string, unknown>>): string[] =>
  checkBook('en-US', [fileOf(shape, values)]).map(({ fault }) => fault);

describe('An entry of the book', () => {
  it('may be one string', () => {
    expect(faultsOf(prose(5), 'A plain text.')).toEqual([]);
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
  ] as const)('names what its shape misses', (shape, value, fault) => {
    expect(faultsOf(shape, value)).toContain(fault);
  });
});

describe('The check of the book', () => {
  it.each([
    [prose(20), { a: 'Far too short.' }, '3 words instead of 15–25'],
    [prose(5), { a: 'You feel tired of it.' }, 'tiredness: "tired"'],
    [prose(5), { a: 'You look anxious about it.' }, 'body: "anxious"'],
    [prose(5), { a: 'Your divorce made you wise.' }, 'fidelity: "divorce"'],
    [prose(5), { a: 'They gamble on every match.' }, 'drink, drugs and gambling: "gamble"'],
    [prose(5), { a: 'Your boss is at lunch.' }, 'rings false at 7-15: "boss"'],
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
    expect(checked(shape, values)).toContain(fault);
  });

  it.each([
    ['passion', 'active', 2],
    ['under7/1', 'under7/2', 2],
    ['passion', 'under7/1', 0],
  ])('finds eight words in a row that %s and %s share, within one book', (one, other, faults) => {
    const text = 'It sits there all day and waits for you.';
    const files = [one, other].map((file) => fileOf(prose(9), { a: text }, file));
    expect(checkBook('en-US', files).filter(({ fault }) => fault.startsWith('repeats'))).toHaveLength(faults);
  });

  it.each([
    ['en-US', 'They love to sort marbles.', 'marbles'],
    ['en-US', 'Paint away in the tub.', 'Paint away in the tub'],
    ['fr-FR', 'On découpe avec des ciseaux.', 'ciseaux'],
    ['fr-FR', 'On construit un port dans la baignoire.', 'port dans la baignoire'],
  ] as const)('keeps unsafe things from small children: %s, %s', (locale, text, thing) => {
    const faultsIn = (file: string) =>
      checkBook(locale, [fileOf(prose(5), { a: text }, file)]).map(({ fault }) => fault);
    expect(faultsIn('under7/1')).toContain(`unsafe for a small child: "${thing}"`);
    expect(faultsIn('passion')).not.toContain(`unsafe for a small child: "${thing}"`);
  });

  it('lets forms of one entry share an image, because they never meet', () => {
    const forms = ['It sits there like a boat in harbor.', 'Something goes by like a boat on wheels.'];
    expect(checked(prose(8, { forms: 2 }), { a: forms })).toEqual([]);
  });

  it.each(['fr-FR', 'en-US'] as const)('finds no fault in %s', (locale) => {
    expect(checkBook(locale, loadBook(locale))).toEqual([]);
  });
});
