import type { Pool } from 'pg';

/** A process that gives no sign of life for this long loses the lock (ms). */
const FROZEN_AFTER_MS = 60_000;

/**
 * Runs the work unless another process is running it (advisory lock of that name, on its own connection). The lock of a
 * frozen process ends, so the work must tolerate a second runner.
 * @returns whether it ran
 */
export const onlyOne = async (
  pool: Pool,
  name: string,
  work: () => Promise<void>,
  { frozenAfterMs = FROZEN_AFTER_MS } = {},
): Promise<boolean> => {
  const client = await pool.connect();
  let failure: Error | boolean = false;
  const broken = (error: unknown): void => {
    failure = error instanceof Error ? error : true;
  };
  try {
    const { rows } = await client.query<{ free: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as free',
      [name],
    );
    if (!rows[0]?.free) return false;
    await client.query(`set idle_session_timeout = ${frozenAfterMs}`);
    const alive = setInterval(() => void client.query('select').catch(broken), frozenAfterMs / 4);
    try {
      await work();
      return true;
    } finally {
      clearInterval(alive);
      await client
        .query('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
        .then(() => client.query('reset idle_session_timeout'))
        .catch(broken);
    }
  } finally {
    // Discards a connection that may still hold the lock.
    client.release(failure);
  }
};
