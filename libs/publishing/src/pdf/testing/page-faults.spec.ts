import { describe, expect, it } from '@jest/globals';
import type { LaidOutPage, Run } from './laid-out.js';
import { pageFaults } from './page-faults.js';

const LEFT = 119;
const RIGHT = 476;

/** A line of text, as a finished PDF has it. @param baseline points from the top */
const run = (text: string, baseline: number, over: Partial<Run> = {}): Run => {
  const size = over.size ?? 11;
  return {
    text,
    left: LEFT,
    right: RIGHT,
    baseline,
    size,
    top: baseline - 0.72 * size,
    bottom: baseline + 0.22 * size,
    role: 'P',
    element: '1',
    within: ['P', 'Document'],
    ...over,
  };
};
/** A page with lines down to `until`. */
const lines = (until = 750): Run[] =>
  Array.from({ length: Math.floor((until - 100) / 15) + 1 }, (_, index) =>
    run('Plain text', 100 + 15 * index),
  );
const page = (...runs: Run[]): LaidOutPage => ({
  width: 595.28,
  height: 841.89,
  runs,
  shapes: [],
  turned: [],
});
const coverOf = (name: string, role = 'H1') =>
  page(run('A Reading', 104, { role, element: 'title' }), run(name, 200));
const heading = (baseline: number) => run('A heading', baseline, { role: 'H3', size: 14, right: 200 });

/** The faults of a booklet of a cover, these pages and a last one. */
const found = (inside: readonly LaidOutPage[], cover = coverOf('Ada'), locale: 'fr-FR' | 'en-US' = 'fr-FR') =>
  pageFaults([cover, ...inside, page(...lines())], { paper: 'a4', locale }).map(
    ({ page: number, fault }) => `${number}: ${fault}`,
  );

describe('A booklet is careless when', () => {
  const over = run('A word too long', 100, { left: 300, right: 400, element: '2' });
  const wide = (text: string, by: number) => page(...lines(), run(text, 765, { right: RIGHT + by }));
  const cut = [...lines(700), heading(735), run('One line', 750)];

  it.each<[string, LaidOutPage, string[]]>([
    ['two texts overlap', page(...lines(), over), ['2: “A word too long” is printed over “Plain text”']],
    ['a line is too wide', wide('Too wide', 4), ['2: “Too wide” reaches into the margin']],
    ['but a stop may hang', wide('It hangs.', 3), []],
    // The lowest line of a page says nothing of what is above it.
    ['it has only a foot', page(...lines(300), run('A footnote', 750)), ['2: is 33 % full']],
    ['the text of a heading is overleaf', page(...cut), ['2: the text of “A heading” is overleaf']],
    [
      'an ordinal is not superior',
      page(...lines(735), run('le 1er mai', 750)),
      ['2: the ordinal in “le 1er mai” is not superior'],
    ],
    ['a page has another size', { ...page(...lines()), width: 612, height: 792 }, ['2: is not a4']],
  ])('%s', (_, inside, faults) => {
    expect(found([inside])).toEqual(faults);
  });

  it('but a heading may end its page when the next begins with one, and English leaves ordinals on the line', () => {
    expect(found([page(...cut), page(heading(85), ...lines())])).toEqual([]);
    expect(found([page(...lines(735), run('the 1er', 750))], coverOf('Ada'), 'en-US')).toEqual([]);
  });

  it.each([
    ['TD', 'TH', '2: a table leaves a single line'],
    ['LI', 'P', '2: a list leaves a single line'],
  ])('%s: a single line of it is overleaf', (tag, role, fault) => {
    const part = (baseline: number) => run('A part', baseline, { role: tag, within: ['P', tag] });
    const parted = (above: number, below: number) =>
      found([
        page(...lines(700), run('A column', 720, { role }), ...[735, 750].slice(0, above).map(part)),
        page(...lines().map((line, index) => (index < below ? part(line.baseline) : line))),
      ]);
    expect([parted(2, 2), parted(1, 2), parted(2, 1)]).toEqual([[], [fault], [fault]]);
  });

  it.each([
    ['Noor Haddad', ['Noor Had\u00AD', 'dad, and others'], ['2: the name is torn after “Had”']],
    ['Maud de La Tour', ['of Maud de', 'La Tour, and others'], ['2: the name is torn after “de”']],
    // Ordinary words.
    ['Maud de la Tour', ['le centre de', 'la page'], []],
  ])('the name %s is torn in %j', (name, texts, faults) => {
    const told = texts.map((text, index) => run(text, 710 + 15 * index, { element: 'told' }));
    expect(found([page(...lines(690), ...told, run('Plain text', 765))], coverOf(name))).toEqual(faults);
  });

  it('the cover has no title, or parts a name', () => {
    const cover = page(...coverOf('Ada de La', 'P').runs, run('Tour', 230));
    expect(found([page(...lines())], cover)).toEqual([
      '1: the title on the cover is not tagged as one',
      '1: “Ada de La” parts a name from its particle',
    ]);
  });
});
