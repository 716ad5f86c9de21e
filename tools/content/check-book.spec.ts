import { readEntry } from '#publishing/content/book/entry.js';
import type { LoadedFile } from '#publishing/content/book/book.js';
import { label, prose, type EntryShape } from '#publishing/content/book/shape.js';
import { describe, expect, it } from '@jest/globals';
import { volumeFaults } from './book-report.js';
import { loadBook } from './book-texts.js';
import { checkBook } from './check-book.js';

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

const CLAIMS = [
  ['fr-FR', 'sleep', 'Vous vous endormez tard.'],
  ['fr-FR', 'tiredness', 'Une fatigue sans cause vient.'],
  ['fr-FR', 'body', 'Une douleur passe.'],
  ['fr-FR', 'drink, drugs and gambling', 'Le casino attend.'],
  ['fr-FR', 'money to place', 'Votre épargne dort.'],
  ['fr-FR', 'fidelity', 'Une infidélité se devine.'],
  ['fr-FR', 'fertility', 'Une grossesse se prépare.'],
  ['fr-FR', 'end of life', 'On vous voit veuf.'],
  ['fr-FR', 'health', 'On y voit une dépression.'],
  ['fr-FR', 'death', 'La mort rôde.'],
  ['en-US', 'sleep', 'You sleep badly.'],
  ['en-US', 'tiredness', 'There is tiredness with no cause.'],
  ['en-US', 'body', 'Pain comes and goes.'],
  ['en-US', 'drink, drugs and gambling', 'They gamble on every match.'],
  ['en-US', 'money to place', 'Your savings grow.'],
  ['en-US', 'fidelity', 'Somebody has been unfaithful.'],
  ['en-US', 'fertility', 'The year is fertile.'],
  ['en-US', 'end of life', 'You see a graveyard.'],
  ['en-US', 'health', 'It heals.'],
  ['en-US', 'death', 'Someone dies.'],
] as const;

const BORROWED = [
  ['fr-FR', 'Au final, vous partez.', 'Au final'],
  ['fr-FR', 'Cela fait sens.', 'fait sens'],
  ['fr-FR', 'Votre quantième est pair.', 'quantième'],
  ['fr-FR', 'Vous faites la première levée.', 'première levée'],
  ['en-US', 'You like large building sites.', 'building sites'],
  ['en-US', 'Analysis is your slope.', 'is your slope'],
  ['en-US', 'Here comes the fellow traveler.', 'fellow traveler'],
  ['en-US', 'It is a question of tact.', 'It is a question of'],
] as const;

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
      prose(5, { uses: ['number'] }),
      { a: 'This is a {number} year.' },
      'an article before what is filled in: "a\u00A0{number}"',
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
    expect(checked(shape, values)).toContain(fault);
  });

  it.each(CLAIMS)('finds a claim in %s: %s', (locale, rule, text) => {
    const faults = checkBook(locale, [fileOf(prose(5), { a: text })]).map(({ fault }) => fault);
    expect(faults.filter((fault) => fault.startsWith(rule))).toHaveLength(1);
  });

  it.each(BORROWED)('finds what is borrowed in %s: %s', (locale, text, found) => {
    const faults = checkBook(locale, [fileOf(prose(5), { a: text })]).map(({ fault }) => fault);
    expect(faults.filter((fault) => fault.endsWith(`: "${found}"`))).toHaveLength(1);
  });

  it.each([
    ['fr-FR', '7-15', 'Votre patron passe.', 'patron'],
    ['fr-FR', '16-29', 'Vos enfants rient.', 'Vos enfants'],
    ['fr-FR', '60-79', 'C’est le premier emploi.', 'premier emploi'],
    ['fr-FR', '80+', 'Vos collègues rient.', 'collègues'],
    ['en-US', '7-15', 'Your boss is at lunch.', 'boss'],
    ['en-US', '16-29', 'Your kids laugh.', 'Your kids'],
    ['en-US', '60-79', 'It is a first job.', 'first job'],
    ['en-US', '80+', 'Your employer calls.', 'employer'],
    ['en-US', '80+', 'Keep the spreadsheet for them.', 'spreadsheet'],
  ] as const)('finds a scene that rings false, in %s at %s', (locale, band, text, scene) => {
    const file = fileOf(prose(5), { a: text });
    const faults = checkBook(locale, [file]).map(({ fault }) => fault);
    expect(faults).toContain(`rings false at ${band}: "${scene}"`);
  });

  // Each stood in a reading.
  it.each([
    ['fr-FR', '16-29', 'Avec ce 5, vous voudriez tout donner, tout quitter, partir avec une brosse à dents.'],
    ['fr-FR', '16-29', 'Vous donnez encore davantage, puis vous disparaissez trois jours.'],
    ['fr-FR', '16-29', 'Un matin vous partez d’un coup.'],
    ['fr-FR', '16-29', 'Donnez un objet par semaine, en bon état, à une personne précise.'],
    ['fr-FR', '7-15', 'Présentez un travail soigné, puis laissez-y une petite faute exprès.'],
    ['fr-FR', '80+', 'Ce qui vous reste à donner ne demande ni bras ni courses.'],
    ['en-US', '16-29', 'Each week, give away one object and finish one thing.'],
    ['en-US', '16-29', 'Inside is somebody who would like to leave on Thursday with a toothbrush.'],
    ['en-US', '7-15', 'You keep a packing list for running off.'],
    ['en-US', '80+', 'Say so. There is nothing left to protect.'],
    ['en-US', '80+', 'Something you ran well is over.'],
    ['en-US', '80+', 'They all have their own roofs by this time.'],
    ['en-US', '80+', 'Hand on the watch, the roses, while you can see the faces.'],
    ['en-US', '60-79', 'What is over already, except that you haven’t told it so?'],
  ] as const)('finds what is unfit for an age, in %s at %s: %s', (locale, band, text) => {
    const faults = checkBook(locale, [fileOf(prose(15), { a: text })]).map(({ fault }) => fault);
    expect(faults.filter((fault) => fault.startsWith(`unfit at ${band}`))).toHaveLength(1);
  });

  it.each([
    ['en-US', 'If things have gone wild, water helps, in a tub or from a hose, with you close by.'],
    ['en-US', 'The towel is open, you turn your head for a second, and it’s an empty towel.'],
    ['en-US', 'You can hear it through the wall: humming, growling, lectures to the ducks in the tub.'],
    ['en-US', 'What floats in the bath, for instance, with you right there: a sponge.'],
    ['en-US', 'Let them be first into the bath with you right behind.'],
    ['en-US', 'Yours is still outside, watching where the water goes when it leaves the hose.'],
    ['fr-FR', 'Laissez-lui la baignoire pleine, près de vous.'],
  ] as const)('finds what is unsafe for a small child, in %s: %s', (locale, text) => {
    const entry = readEntry(locale, prose(15), text, () => undefined);
    const file = { file: 'under7/5', gaps: [], faults: [] };
    const placed = { file: file.file, path: 'lifePath.lead', shape: prose(15), entry };
    const faults = checkBook(locale, [{ ...file, entries: [placed] }]).map(({ fault }) => fault);
    expect(faults.filter((fault) => fault.startsWith('unsafe for a small child'))).toHaveLength(1);
  });

  it.each([
    ['fr-FR', 'C’est plus calme qu’avant.', 'qu’avant'],
    ['en-US', 'It is calmer than before.', 'than before'],
  ] as const)('finds an earlier time in a first stage, in %s', (locale, text, found) => {
    const faultsIn = (file: string, path: string) =>
      checkBook(locale, [fileOf(prose(5), { [path]: text }, file)]).map(({ fault }) => fault);
    const fault = `compares with an earlier time: "${found}"`;
    expect(faultsIn('periods/first', '3')).toContain(fault);
    expect(faultsIn('pinnacles/current', '3')).toContain(fault);
    expect(faultsIn('synthesis/moment', '3.first')).toContain(fault);
    expect(faultsIn('synthesis/moment', '3.second')).not.toContain(fault);
    expect(faultsIn('periods/third', '3')).not.toContain(fault);
  });

  it('finds one label at one position for two numbers', () => {
    const labels = fileOf(
      label(),
      { '1.expression.theme': 'the start', '2.expression.theme': 'the start', '2.active.theme': 'the start' },
      'labels',
    );
    expect(checkBook('en-US', [labels])).toEqual([
      { at: 'labels 2.expression.theme', fault: 'has the label of 1' },
    ]);
  });

  it.each([
    ['fr-FR', 'Vous allez ; vous venez. ', 'semicolons per 1,000 words'],
    ['fr-FR', 'Ce n’est pas tard, mais tôt. ', 'of "not X but Y" per 1,000 words'],
    ['en-US', 'You come; you go. ', 'semicolons per 1,000 words'],
    ['en-US', 'It is not late but early. ', 'of "not X but Y" per 1,000 words'],
  ] as const)('finds a figure too frequent in %s: %s', (locale, sentence, fault) => {
    const many = fileOf(prose(400), { a: sentence.repeat(100).trim() });
    const few = fileOf(prose(400), { a: `${sentence}${'Il va bien là. '.repeat(150)}`.trim() });
    const found = (file: LoadedFile) =>
      checkBook(locale, [file]).filter((each) => each.fault.includes(fault));
    expect(found(many)).toHaveLength(1);
    expect(found(few)).toHaveLength(0);
  });

  it('finds a family with fewer words than its shapes ask', () => {
    const book = loadBook('en-US');
    const cut = book.map((file) =>
      file.file === 'heredity'
        ? { ...file, entries: file.entries.map((entry) => ({ ...entry, shape: prose(200) })) }
        : file,
    );
    expect(volumeFaults(cut).filter((fault) => fault.startsWith('heredity'))).toEqual([
      expect.stringMatching(/^heredity: \d+ words of 2400 asked$/),
    ]);
    expect(volumeFaults(book).filter((fault) => fault.startsWith('heredity'))).toEqual([]);
    expect(volumeFaults(book.slice(0, 3))).toEqual([]);
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
