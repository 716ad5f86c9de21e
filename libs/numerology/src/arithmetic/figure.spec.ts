import { describe, expect, it } from '@jest/globals';
import { figure, indebtedFigure, plainFigure } from './figure.js';
import { chain, digitSum, reduce, root } from './reduce.js';

describe('reduction', () => {
  it('stops at 11, 22 and 33 and at no other repdigit', () => {
    expect([11, 22, 33, 29, 1993].map(reduce)).toEqual([11, 22, 33, 11, 22]);
    expect([44, 55, 99].map(reduce)).toEqual([8, 1, 9]);
  });

  it('visits every value of its chain', () => {
    expect(chain(1999)).toEqual([1999, 28, 10, 1]);
    expect(chain(29)).toEqual([29, 11]);
    expect(chain(29, false)).toEqual([29, 11, 2]);
    expect(chain(7)).toEqual([7]);
  });

  it('has a root equal to the last digit of the full reduction', () => {
    for (let n = 0; n <= 2_700; n += 1) expect(root(n)).toBe(chain(n, false).at(-1));
    expect(digitSum(1990)).toBe(19);
  });
});

describe('a figure', () => {
  it('prints a debt before a master before a plain value', () => {
    expect([13, 49, 19, 11, 29, 22, 33, 15].map((n) => indebtedFigure(n).display)).toEqual([
      '13/4',
      '13/4',
      '19/1',
      '11/2',
      '11/2',
      '22/4',
      '33/6',
      '6',
    ]);
  });

  it('flags a debt only where debts count', () => {
    expect(indebtedFigure(49)).toMatchObject({ karmicDebt: 13, chain: [49, 13, 4] });
    expect(figure(49)).toMatchObject({ karmicDebt: null, display: '4' });
  });

  it('gives up its master where masters do not count', () => {
    expect(plainFigure(38)).toEqual({
      value: 2,
      root: 2,
      master: false,
      karmicDebt: null,
      chain: [38, 11, 2],
      display: '2',
    });
    expect(figure(38)).toMatchObject({ value: 11, root: 2, master: true });
  });
});
