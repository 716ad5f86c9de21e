import type pg from 'pg';

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
  readonly 'Node Type': string;
}

const steps = (plan: Plan): readonly number[] => [
  // A bitmap has places of rows.
  plan['Node Type'] === 'Bitmap Index Scan' ? 0 : plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0),
  ...(plan.Plans ?? []).flatMap(steps),
];

/** A pool that also says how many rows one step of the plan of a statement read at most. */
export const countingRowsRead = (pool: pg.Pool) => {
  let most = 0;
  const query = async (asked: string | pg.QueryConfig, given: unknown[] = []) => {
    const { text, values = given } = typeof asked === 'string' ? { text: asked } : asked;
    const { rows } = await pool.query<{ 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
      `explain (analyze, format json) ${text}`,
      values,
    );
    most = Math.max(most, ...steps(rows[0]!['QUERY PLAN'][0].Plan));
    return pool.query(text, values);
  };
  return { pool: { query } as unknown as pg.Pool, mostRowsRead: () => most };
};
