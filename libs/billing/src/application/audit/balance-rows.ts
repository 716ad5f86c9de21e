import type pg from 'pg';
import { modeOf } from '../../read-models/mode-of.js';
import type { BalanceRow } from '../../audit/book-balances.js';

/** Books in one query: more would hold their rows twice. */
const PAGE = 1_000;

/** The balance view of one workspace or of all (`null`), by workspace. One query for each page of books. */
export const balanceRows = async (
  pool: pg.Pool,
  workspaceId: string | null,
  livemode = true,
): Promise<Map<string, BalanceRow>> => {
  const found = new Map<string, BalanceRow>();
  for (let last = ''; ;) {
    const { rows } = await pool.query<Record<string, string>>(
      `select workspace_id, revision::text, available::text, held::text, consumed::text, expired::text,
              granted::text, adjusted::text
       from billing.balance
       where ($1::text is null or workspace_id = $1) and workspace_id > $2 and mode = $4
       order by workspace_id limit $3`,
      [workspaceId, last, PAGE, modeOf(livemode)],
    );
    for (const row of rows) found.set(row['workspace_id']!, rowOf(row));
    if (rows.length < PAGE) return found;
    last = rows.at(-1)!['workspace_id']!;
  }
};

const rowOf = (row: Readonly<Record<string, string>>): BalanceRow => ({
  revision: BigInt(row['revision']!),
  balance: {
    available: Number(row['available']),
    held: Number(row['held']),
    consumed: Number(row['consumed']),
    expired: Number(row['expired']),
    granted: Number(row['granted']),
    adjusted: Number(row['adjusted']),
  },
});
