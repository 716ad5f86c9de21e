import { describe, expect, it } from '@jest/globals';
import { chain, figure, indebtedFigure, plainFigure, reduce, root } from './arithmetic.js';

describe('reduction', () => {
  it('stops at 11, 22 and 33 and at no other repdigit', () => {
    expect([11, 22, 33, 29, 1993, 44, 55, 99].map(reduce)).toEqual([11, 22, 33, 11, 22, 8, 1, 9]);
    expect([chain(1999), chain(29), chain(29, false)]).toEqual([
      [1999, 28, 10, 1],
      [29, 11],
      [29, 11, 2],
    ]);
  });

  it('has a root equal to the last digit of the full reduction', () => {
    for (let n = 0; n <= 2_700; n += 1) expect(root(n)).toBe(chain(n, false).at(-1));
  });
});

it('a figure prints a debt before a master before a plain value, where debts count', () => {
  const printed = [13, 49, 19, 11, 29, 22, 33, 15].map((n) => indebtedFigure(n).display);
  expect(printed).toEqual(['13/4', '13/4', '19/1', '11/2', '11/2', '22/4', '33/6', '6']);
  expect(figure(49)).toMatchObject({ karmicDebt: null, display: '4' });
});

it('a figure gives up its master where masters do not count', () => {
  const kept = { root: 2, master: true, karmicDebt: null, chain: [38, 11], value: 11, display: '11/2' };
  expect(figure(38)).toEqual(kept);
  expect(plainFigure(38)).toEqual({ ...kept, master: false, chain: [38, 11, 2], value: 2, display: '2' });
});
