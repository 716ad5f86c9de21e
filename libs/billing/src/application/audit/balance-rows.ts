import type pg from 'pg';
import type { BalanceRow } from '../../audit/book-balances.js';

/** The balance view of one workspace or of all (`null`), by workspace. */
export const balanceRows = async (
  pool: pg.Pool,
  workspaceId: string | null,
): Promise<Map<string, BalanceRow>> => {
  const { rows } = await pool.query<Record<string, string>>(
    `select workspace_id, revision::text, available::text, held::text, consumed::text, expired::text,
            granted::text, adjusted::text
     from billing.balance where $1::text is null or workspace_id = $1`,
    [workspaceId],
  );
  return new Map(
    rows.map((row) => [
      row['workspace_id']!,
      {
        revision: BigInt(row['revision']!),
        balance: {
          available: Number(row['available']),
          held: Number(row['held']),
          consumed: Number(row['consumed']),
          expired: Number(row['expired']),
          granted: Number(row['granted']),
          adjusted: Number(row['adjusted']),
        },
      },
    ]),
  );
};
