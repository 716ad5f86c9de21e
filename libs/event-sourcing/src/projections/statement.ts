import type { PoolClient } from 'pg';
import { foldRows, type RowFold } from './view.js';

/** SQL with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** PostgreSQL prepares a named statement once for each connection. */
  readonly name?: string;
  /** Makes one statement of the values of consecutive ones that have the same function here. */
  readonly together?: (each: readonly (readonly unknown[])[]) => Statement;
}

/** What a consumer may do in the transaction of its checkpoint: run SQL, or fold events into rows. */
export type Step = Statement | RowFold;

/** By the place in the program: its text never changes. */
const prepared = new WeakMap<TemplateStringsArray, Omit<Statement, 'values'>>();
let count = 0;

/** Tagged template: `sql\`update t set a = ${1}\`` becomes text with `$1`, and the values. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): Statement => {
  let statement = prepared.get(strings);
  if (!statement) {
    count += 1;
    statement = {
      name: `sql-${count}`,
      text: strings.reduce((text, part, index) => `${text}$${index}${part}`),
    };
    prepared.set(strings, statement);
  }
  return { ...statement, values };
};

const kindOf = (step: Step): Statement['together'] => ('text' in step ? step.together : undefined);

/** Makes one statement of consecutive ones of a kind. */
const joined = (steps: readonly Step[]): readonly Step[] => {
  const runs: [Step, ...Step[]][] = [];
  for (const step of steps) {
    const run = runs.at(-1);
    const kind = kindOf(step);
    if (run && kind && kind === kindOf(run[0])) run.push(step);
    else runs.push([step]);
  }
  return runs.map((run) =>
    run.length === 1 ? run[0] : kindOf(run[0])!(run.map((step) => (step as Statement).values)),
  );
};

/** Runs the steps in order, in the client's current transaction. */
export const runSteps = async (client: PoolClient, steps: readonly Step[]): Promise<void> => {
  for (const step of joined(steps)) {
    if ('text' in step) await client.query(step as { text: string; values: unknown[]; name?: string });
    else await foldRows(client, step);
  }
};
