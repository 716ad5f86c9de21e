import { describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { runSteps, sql, type Statement } from './statement.js';

describe('sql', () => {
  it('numbers the values in order, and never puts them into the text', () => {
    const evil = "'; drop table reading; --";
    expect(sql`update t set a = ${evil}, b = ${2} where c = ${null}`).toMatchObject({
      text: 'update t set a = $1, b = $2 where c = $3',
      values: [evil, 2, null],
    });
  });
});

describe('runSteps', () => {
  const together = (each: readonly (readonly unknown[])[]): Statement => ({ text: 'many', values: [each] });
  const one = (value: number): Statement => ({ text: 'one', values: [value], together });

  it('makes one statement of consecutive ones of a kind, and keeps the order', async () => {
    const ran: unknown[] = [];
    const client = { query: async ({ text, values }: Statement) => ran.push([text, ...values]) };
    const steps = [one(1), one(2), sql`other`, one(3), sql`last`];
    await runSteps(client as unknown as PoolClient, steps);
    expect(ran).toEqual([['many', [[1], [2]]], ['other'], ['one', 3], ['last']]);
  });
});
