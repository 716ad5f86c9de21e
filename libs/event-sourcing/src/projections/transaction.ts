import type { Pool, PoolClient } from 'pg';

export interface TransactionOptions {
  /**
   * Longest pause between two statements (ms). After it, PostgreSQL ends the session and frees its locks, so that a
   * frozen process blocks others no longer than that. 0: unlimited.
   */
  readonly longestPauseMs?: number;
}

/** Milliseconds: as long as the lease of a job. A healthy process pauses for the answers of the event store at most. */
export const LONGEST_PAUSE_MS = 60_000;

/** Runs work in one transaction on one connection; rolls back when it throws. */
export const transaction = async <T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  { longestPauseMs = LONGEST_PAUSE_MS }: TransactionOptions = {},
): Promise<T> => {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query(`begin; set local idle_in_transaction_session_timeout = ${longestPauseMs}`);
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
