import { describe, expect, it } from '@jest/globals';
import { text } from '../document/nodes.js';
import type { Table } from '../document/document.js';
import { oneLineRows } from './one-line-rows.js';

const table = (rows: readonly (readonly string[])[], align?: Table['align']): Table => ({
  type: 'table',
  id: 'table',
  ...(align && { align }),
  head: rows[0]!.map(() => [text('Word')]),
  rows: rows.map((row) => row.map((cell) => [text(cell)])),
});

describe('The rows of a table that surely take one line', () => {
  it('are those whose last cell fits beside the widest of the other cells', () => {
    expect(
      oneLineRows(
        table([
          ['Life Path', 'the pleasure of saying things'],
          ['Life Path', 'the pleasure of saying things, and of hearing them said by all the others again'],
        ]),
      ),
    ).toEqual([true, false]);
    expect(
      oneLineRows(
        table([
          ['Life Path', 'the pleasure of saying things'],
          ['the path that a whole life takes from its first day', ''],
        ]),
      ),
    ).toEqual([false, true]);
  });

  it('are fewer when letters are wide', () => {
    const [narrow, wide] = ['tilli', 'MWMWM'].map((word) => [word.repeat(4), word.repeat(4)]);
    expect(oneLineRows(table([narrow!]))).toEqual([true]);
    expect(oneLineRows(table([wide!]))).toEqual([false]);
  });

  it('are those of short figures, where columns share the width', () => {
    const nine = (cell: string): string[] => Array.from({ length: 9 }, () => cell);
    expect(oneLineRows(table([nine('12'), nine('a word')], Array(9).fill('center')))).toEqual([true, false]);
  });
});
