import { describe, expect, it } from '@jest/globals';
import { COVER, LAST, RIGHT, found, heading, lines, page, run } from './drawn-pages.js';
import { pageFaults } from './page-faults.js';

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

  it.each([
    [
      'a name on the cover',
      page([run('A Reading', 104, { role: 'H1' }), run('ANDRIAMAHAROMANANA', 200, { right: 480 })]),
    ],
    [
      'a running head',
      page([...lines(), run('A name that is too long', 50, { role: null, right: RIGHT + 4 })]),
    ],
    ['a line below the paper', page([...lines(), run('A row of a table', 845)])],
  ])('%s leaves its place', (where, drawn) => {
    const cover = where.includes('cover');
    expect(cover ? found(page(lines()), { cover: drawn }) : found(drawn)).toEqual([
      expect.stringMatching(/reaches into the margin$/),
    ]);
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
