import type { PoolClient } from 'pg';
import { foldRows, type RowFold } from './view.js';

/** SQL with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What a consumer may do in the transaction of its checkpoint: run SQL, or fold events into rows. */
export type Step = Statement | RowFold;

/** Tagged template: `sql\`update t set a = ${1}\`` becomes text with `$1`, and the values. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): Statement => ({
  text: strings.reduce((text, part, index) => `${text}$${index}${part}`),
  values,
});

/** Runs the steps in order, in the client's current transaction. */
export const runSteps = async (client: PoolClient, steps: readonly Step[]): Promise<void> => {
  for (const step of steps) {
    if ('text' in step) await client.query(step.text, step.values as unknown[]);
    else await foldRows(client, step);
  }
};
