import type { Pool, PoolClient } from 'pg';

/** Runs work in one transaction on one connection; rolls back when it throws. */
export const transaction = async <T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    // Destroys a connection that failed to roll back instead of returning it to the pool.
    client.release(broken);
  }
};
