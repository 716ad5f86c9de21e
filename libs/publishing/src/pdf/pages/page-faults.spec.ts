import { describe, expect, it } from '@jest/globals';
import type { LaidOutPage, Run, Shape } from './laid-out.js';
import { pageFaults } from './page-faults.js';

const A4 = { width: 595.28, height: 841.89 };
const LEFT = 119;
const RIGHT = 476;

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

const page = (runs: readonly Run[], shapes: readonly Shape[] = []): LaidOutPage => ({ ...A4, runs, shapes });

const COVER = page([run('A Reading', 104, { role: 'H1' }), run('Ada de La Tour', 200)]);
/** Two questions, then lines. */
const LAST = page(
  lines().map((line, index) => (index < 2 ? { ...line, size: 12, element: `question ${index}` } : line)),
);

const found = (inside: LaidOutPage, over: { cover?: LaidOutPage; last?: LaidOutPage } = {}): string[] =>
  pageFaults([over.cover ?? COVER, inside, over.last ?? LAST], { paper: 'a4', locale: 'fr-FR' }).map(
    ({ page: number, fault }) => `${number}: ${fault}`,
  );

const heading = (baseline: number) => run('A heading', baseline, { role: 'H3', size: 14, right: 200 });

describe('A booklet is careless when', () => {
  it('but not when all is well', () => {
    expect(found(page(lines()))).toEqual([]);
  });

  it('two texts are printed over each other', () => {
    const over = run('A word too long', 100, { left: 300, right: 400, element: '2' });
    expect(found(page([...lines(), over]))).toEqual(['2: “A word too long” is printed over “Plain text”']);
  });

  it('a line reaches into the margin, but a stop may hang there', () => {
    const wide = (text: string, by: number) => page([...lines(), run(text, 765, { right: RIGHT + by })]);
    expect(found(wide('Too wide', 4))).toEqual(['2: “Too wide” reaches into the margin']);
    expect(found(wide('It hangs.', 3))).toEqual([]);
  });

  it('a page is not half full', () => {
    expect(found(page(lines(400)))).toEqual(['2: is 47 % full']);
    // The lowest line of a page says nothing of what is above it.
    expect(found(page([...lines(300), run('A footnote', 750)]))).toEqual(['2: is 33 % full']);
  });

  it('the text of a heading is overleaf', () => {
    const cut = [...lines(700), heading(735), run('One line', 750)];
    expect(found(page(cut))).toEqual(['2: the text of “A heading” is overleaf']);
    // That line is all of its text, when the next page begins with a heading.
    expect(found(page(cut), { last: page([heading(85), ...LAST.runs]) })).toEqual([]);
  });

  it.each([
    ['TD', 'TH', 'a table leaves a single line'],
    ['LI', 'P', 'a list leaves a single line'],
  ])('%s: a single line of it is overleaf', (tag, role, fault) => {
    const part = (baseline: number) => run('A part', baseline, { role: tag, within: ['P', tag] });
    const after = (count: number) =>
      page(lines().map((line, index) => (index < count ? part(line.baseline) : line)));
    const before = (count: number) =>
      page([...lines(700), run('A column', 720, { role }), ...[735, 750].slice(0, count).map(part)]);
    const parted = (above: number, below: number) =>
      pageFaults([COVER, before(above), after(below), LAST], { paper: 'a4', locale: 'fr-FR' });
    expect(parted(2, 2)).toEqual([]);
    expect(parted(1, 2)).toEqual([{ page: 2, fault }]);
    expect(parted(2, 1)).toEqual([{ page: 2, fault }]);
  });

  it('a list leaves a single item overleaf, but not when the item goes on there', () => {
    const item = (baseline: number, element: string) =>
      run('An item', baseline, { within: ['P', 'LI'], element });
    const parted = (above: readonly string[], below: readonly string[]) =>
      pageFaults(
        [
          COVER,
          page([...lines(690), ...above.map((element, index) => item(705 + 15 * index, element))]),
          page(lines().map((line, index) => (below[index] ? item(line.baseline, below[index]) : line))),
          LAST,
        ],
        { paper: 'a4', locale: 'fr-FR' },
      );
    expect(parted(['a', 'b', 'c'], ['d', 'd', 'e'])).toEqual([]);
    expect(parted(['a', 'b', 'c'], ['d', 'd'])).toEqual([{ page: 2, fault: 'a list leaves a single item' }]);
    expect(parted(['a', 'b', 'c'], ['c', 'c'])).toEqual([]);
  });

  it('a note is parted from what it explains', () => {
    const under = (size: number) => page([run('What the list means', 100, { size }), ...lines().slice(1)]);
    expect(found(under(9))).toEqual(['2: a note is parted from what it explains']);
    expect(found(under(11))).toEqual([]);
    // Below its list, it stands well.
    expect(found(page([...lines(735), run('What the list means', 750, { size: 9 })]))).toEqual([]);
  });

  it('a short last paragraph is parted from what it concludes', () => {
    const below = (second: Run) =>
      page([run('None has one.', 100, { element: '2' }), second, ...lines().slice(3)]);
    const all = (second: Run) =>
      pageFaults([COVER, page(lines()), below(second), LAST], { paper: 'a4', locale: 'fr-FR' });
    expect(all(heading(130))).toEqual([
      { page: 3, fault: '“None has one.” is parted from what it concludes' },
    ]);
    expect(all(run('Another', 130, { element: '3' }))).toEqual([]);
  });

  it('a table or a list is parted from the table above it', () => {
    const rows = [735, 750].map((baseline) => run('A cell', baseline, { role: 'TD', within: ['TD'] }));
    const parted = (over: Partial<Run>) =>
      pageFaults(
        [COVER, page([...lines(705), ...rows]), page([run('Remark', 100, over), ...lines().slice(1)]), LAST],
        { paper: 'a4', locale: 'fr-FR' },
      );
    expect(parted({ within: ['P', 'LI'] })).toEqual([
      { page: 2, fault: '“Remark” is parted from the table above it' },
    ]);
    expect(parted({ role: 'TH' })).toHaveLength(1);
    expect(parted({})).toEqual([]);
  });

  it('a pull quote ends its page', () => {
    const quote = (baseline: number) => run('You come in', baseline, { role: null, size: 16, element: '' });
    expect(found(page([...lines(), quote(780)]))).toEqual(['2: “You come in” ends its page']);
    expect(
      found(page([...lines(690), quote(715), ...lines().filter(({ baseline }) => baseline > 735)])),
    ).toEqual([]);
  });

  it('the end of a sum is parted from it', () => {
    const cell = (...texts: string[]) =>
      found(
        page([
          ...lines(690),
          ...texts.map((text, index) => run(text, 710 + 12 * index, { role: 'TD', element: 'cell' })),
        ]),
      );
    expect(cell('J 1 + O 6 = 47', '→ 11')).toEqual(['2: “→ 11” is parted from its sum']);
    expect(cell('ALEXANDRE + XAVIER (113),', '50, R 9')).toEqual(['2: “50, R 9” is parted from its sum']);
    expect(cell('J 1 + O 6', '= 47 → 11')).toEqual(['2: “= 47 → 11” is parted from its sum']);
    expect(cell('Maturité 1 + Passion', 'cachée 1 = 2')).toEqual([
      '2: “cachée 1 = 2” is parted from its sum',
    ]);
    expect(cell('J 1', '+ O 6 = 47 → 11')).toEqual([]);
    expect(cell('47 → 11')).toEqual([]);
  });

  it('a name is torn', () => {
    const told = (name: string, ...texts: string[]) =>
      found(
        page([
          ...lines(690),
          ...texts.map((text, index) => run(text, 710 + 15 * index, { element: 'told' })),
          run('Plain text', 765),
        ]),
        { cover: page([run('A Reading', 104, { role: 'H1', element: 'title' }), run(name, 200)]) },
      );
    expect(told('Noor Haddad', 'Noor Had\u00AD', 'dad, and others')).toEqual([
      '2: the name is torn after “Had”',
    ]);
    expect(told('Maud de La Tour', 'of Maud de', 'La Tour, and others')).toEqual([
      '2: the name is torn after “de”',
    ]);
    expect(told('Percival McAllister III', 'McAllister', 'III, and others')).toEqual([
      '2: the name is torn after “McAllister”',
    ]);
    expect(told('Noor Haddad', 'of Noor', 'Haddad, and oth\u00AD', 'ers')).toEqual([]);
    // Ordinary words.
    expect(told('Maud de la Tour', 'le centre de', 'la page')).toEqual([]);
  });

  it('a short word stands alone below a line', () => {
    const told = (before: readonly Run[], ...texts: string[]) =>
      pageFaults(
        [
          COVER,
          page([...lines(750), ...before]),
          page([
            ...texts.map((text, index) => run(text, 100 + 15 * index, { element: 'told' })),
            ...lines().slice(2),
          ]),
          LAST,
        ],
        { paper: 'a4', locale: 'en-US' },
      ).map(({ fault }) => fault);
    expect(told([], 'A late bloomer by all', 'accounts.')).toEqual(['“accounts.” stands alone below a line']);
    expect(told([], 'A late bloomer by', 'all accounts.')).toEqual([]);
    // The rest of a longer text.
    expect(told([run('A beginning', 765, { element: 'told' })], 'A late bloomer', 'accounts.')).toEqual([]);
  });

  it.each([
    ['a closing question', 12, 'P'],
    ['a lead', 12.4, 'P'],
    ['a question in a box', 13, 'P'],
    ['a pull quote', 16, null],
  ])('%s ends in a line of one word', (_, size, role) => {
    const told = (...texts: string[]) =>
      page([
        ...lines(690),
        ...texts.map((text, index) => run(text, 710 + 20 * index, { size, role, element: 'large' })),
        run('Plain text', 765),
      ]);
    const fault = '2: “Whose mood was it, for no reason?” ends in a line of one word, “reason?”';
    expect(found(told('Whose mood was it, for no', 'reason?'))).toEqual([fault]);
    expect(found(told('Whose mood was it,', 'for no reason?'))).toEqual([]);
    expect(found(told('Whose?'))).toEqual([]);
    // French sets a space before the mark.
    expect(found(told('Pour quelle', 'raison\u202F?'))).toHaveLength(1);
  });

  it.each([
    ['a closing question', 12, 'P'],
    ['a lead', 12.4, 'P'],
    ['a pull quote', 16, null],
  ])('%s is broken after the hyphen of a word', (_, size, role) => {
    const told = (...texts: string[]) =>
      found(
        page([
          ...lines(690),
          ...texts.map((text, index) => run(text, 710 + 20 * index, { size, role, element: 'large' })),
          run('Plain text', 765),
        ]),
      );
    expect(told('Quel ennui, et qu’y avait-', 'il de l’autre côté\u202F?')).toEqual([
      '2: a word is broken after “avait-” in large type',
    ]);
    expect(told('Quel ennui, et qu’y', 'avait-il de l’autre côté\u202F?')).toEqual([]);
  });

  it('one question stands alone on the last page, or none', () => {
    const last = (questions: number) => page([...LAST.runs.slice(0, questions), ...LAST.runs.slice(2)]);
    expect(found(page(lines()), { last: last(1) })).toEqual(['3: has a single question']);
    expect(found(page(lines()), { last: last(0) })).toEqual(['3: has no question']);
    // The whole closing page may have one.
    const title = run('To go on with', 100, { role: 'H2', size: 24, top: 92 });
    expect(found(page(lines()), { last: page([title, ...last(0).runs]) })).toEqual([]);
  });

  it('a pull quote is repeated at once', () => {
    const quote = run('You come in with the answer', 120, { role: null, size: 16, element: '' });
    const told = (baseline: number) =>
      page([
        quote,
        ...lines()
          .slice(3)
          .map((line) => (line.baseline === baseline ? { ...line, text: quote.text } : line)),
      ]);
    expect(found(told(700))).toEqual([]);
    expect(found(told(160))).toEqual(['2: “You come in with the answer” is repeated at once']);
  });

  it('an ordinal is not superior', () => {
    const ordinal = page([...lines(735), run('le 1er mai', 750)]);
    expect(found(ordinal)).toEqual(['2: the ordinal in “le 1er mai” is not superior']);
    const english = pageFaults([COVER, ordinal, LAST], { paper: 'a4', locale: 'en-US' });
    expect(english).toEqual([]);
  });

  it('a name has a straight apostrophe, or a sentence two full stops', () => {
    const typed = page([...lines(720), run("O'Neil", 735), run('of Smith Jr..', 750)]);
    expect(found(typed)).toEqual([
      "2: a straight apostrophe in “O'Neil”",
      '2: two full stops in “of Smith Jr..”',
    ]);
  });

  it('a title of the contents takes more than two thirds of its line, or has no number', () => {
    const within = ['Link', 'TOCI', 'TOC', 'Document'];
    const entry = (right: number, number: number) => [
      run('A title', 750, { right, within }),
      run('12', 750, { left: number - 9, right: number, within }),
    ];
    expect(found(page([...lines(735), ...entry(250, RIGHT)]))).toEqual([]);
    expect(found(page([...lines(735), ...entry(380, RIGHT)]))).toEqual([
      '2: “A title” leaves no third of its line in the contents',
    ]);
    expect(found(page([...lines(735), ...entry(250, 440)]))).toEqual([
      '2: “A title” has no page number in line',
    ]);
  });

  it('the cover has no title, or parts a name', () => {
    const cover = page([run('A Reading', 104), run('Ada de La', 200), run('Tour', 230)]);
    expect(found(page(lines()), { cover })).toEqual([
      '1: the title on the cover is not tagged as one',
      '1: “Ada de La” parts a name from its particle',
    ]);
  });

  it('a page has another size', () => {
    expect(found({ ...page(lines()), width: 612, height: 792 })).toEqual(['2: is not a4']);
  });
});
