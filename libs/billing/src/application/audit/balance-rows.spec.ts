import { expect, it } from '@jest/globals';
import type pg from 'pg';
import { balanceRows } from './balance-rows.js';

const idOf = (n: number): string => `ws_${String(n).padStart(22, '0')}`;

/** A balance view with so many books. Counts the queries. */
const viewOf = (books: number) => {
  const calls: number[] = [];
  const figures = { revision: '9', available: '1', held: '2', consumed: '3', expired: '4', granted: '5' };
  const rows = Array.from({ length: books }, (_, n) => ({
    workspace_id: idOf(n),
    ...figures,
    adjusted: String(n),
  }));
  const query = async (_: string, [workspace, last, limit]: [string | null, string, number]) => {
    const found = rows
      .filter(({ workspace_id: id }) => (workspace === null || id === workspace) && id > last)
      .slice(0, limit);
    calls.push(found.length);
    return { rows: found };
  };
  return { pool: { query } as unknown as pg.Pool, calls };
};

it.each([
  [0, [0]],
  [999, [999]],
  [1_000, [1_000, 0]],
  [2_500, [1_000, 1_000, 500]],
])('reads %i books in pages of 1,000, one query each', async (books, pages) => {
  const { pool, calls } = viewOf(books);
  const rows = await balanceRows(pool, null);
  expect(calls).toEqual(pages);
  expect([...rows.keys()]).toEqual(Array.from({ length: books }, (_, n) => idOf(n)));
});

it('reads the row of one workspace', async () => {
  const { pool, calls } = viewOf(20);
  const rows = await balanceRows(pool, idOf(7));
  expect([...rows]).toEqual([
    [
      idOf(7),
      {
        revision: 9n,
        balance: { available: 1, held: 2, consumed: 3, expired: 4, granted: 5, adjusted: 7 },
      },
    ],
  ]);
  expect(calls).toEqual([1]);
});
