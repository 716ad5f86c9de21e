import type { PoolClient } from 'pg';
import { foldRows, type RowFold } from './view.js';

/** SQL with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What a consumer answers, and all it may do in the transaction of its checkpoint. */
export type Step = Statement | RowFold;

/** Tagged template: `sql\`update t set a = ${1}\`` becomes text with $1 and its values. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): Statement => ({
  text: strings.reduce((text, part, index) => `${text}$${index}${part}`),
  values,
});

/** Carries out steps one after the other, in the transaction that the client is in. */
export const runSteps = async (client: PoolClient, steps: readonly Step[]): Promise<void> => {
  for (const step of steps) {
    if ('text' in step) await client.query(step.text, step.values as unknown[]);
    else await foldRows(client, step);
  }
};
