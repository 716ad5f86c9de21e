import type { Pool } from 'pg';

/**
 * Does something unless another process is just doing it (an advisory lock of that name, on a connection of its own).
 * @returns whether it was done
 */
export const onlyOne = async (pool: Pool, name: string, work: () => Promise<void>): Promise<boolean> => {
  const client = await pool.connect();
  let failure: Error | boolean = false;
  try {
    const { rows } = await client.query<{ free: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as free',
      [name],
    );
    if (!rows[0]?.free) return false;
    try {
      await work();
      return true;
    } finally {
      await client
        .query('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
        .catch((error: unknown) => (failure = error instanceof Error ? error : true));
    }
  } finally {
    // A connection that may still have the lock is not used again.
    client.release(failure);
  }
};
