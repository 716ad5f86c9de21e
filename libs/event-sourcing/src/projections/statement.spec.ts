import { describe, expect, it } from '@jest/globals';
import { sql } from './statement.js';

describe('sql', () => {
  it('numbers the values in order, and never puts them into the text', () => {
    const evil = "'; drop table reading; --";
    expect(sql`update t set a = ${evil}, b = ${2} where c = ${null}`).toEqual({
      text: 'update t set a = $1, b = $2 where c = $3',
      values: [evil, 2, null],
    });
  });

  it('accepts text without values, and values at both ends', () => {
    expect(sql`select 1`).toEqual({ text: 'select 1', values: [] });
    expect(sql`${1} = ${1}`).toEqual({ text: '$1 = $2', values: [1, 1] });
  });

  it('handles more than nine values', () => {
    expect(sql`${0},${1},${2},${3},${4},${5},${6},${7},${8},${9},${10}`.text).toBe(
      '$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11',
    );
  });
});
