import { describe, expect, it } from '@jest/globals';
import { COVER, LAST, found, heading, lines, page, run } from './drawn-pages.js';
import type { Run } from './laid-out.js';
import { pageFaults } from './page-faults.js';

describe('A booklet parts what belongs together when', () => {
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
});
