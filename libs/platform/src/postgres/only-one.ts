import type { Pool } from 'pg';

/**
 * Runs the work unless another process is running it (advisory lock of that name, on its own connection).
 * @returns whether it ran
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
    // Discards a connection that may still hold the lock.
    client.release(failure);
  }
};
