import type { Pool, PoolClient } from 'pg';
import { failure, ok, type Finding } from './finding.js';

const CHECK = 'sessions';

/**
 * Whether a connection keeps its session of PostgreSQL. A pooler in transaction mode gives it to another connection between
 * two transactions: the session of an idle one begins another's, or the idle one gets another session.
 */
export const checkSessions = async (pool: Pick<Pool, 'connect'>): Promise<Finding> => {
  const idle = await pool.connect();
  const busy = await pool.connect();
  try {
    const before = await sessionOf(idle);
    await busy.query('begin');
    const other = await sessionOf(busy);
    const after = await sessionOf(idle);
    if (before === after && before !== other)
      return ok(CHECK, 'connections keep their sessions of PostgreSQL');
    return failure(
      CHECK,
      'a connection pooler gives each transaction another session of PostgreSQL',
      'Advisory locks, LISTEN and prepared statements need sessions. Set the pooler to session mode (PgBouncer: pool_mode=session), or lead DATABASE_URL past it.',
    );
  } finally {
    await busy.query('rollback').catch(() => undefined);
    busy.release();
    idle.release();
  }
};

const sessionOf = async (client: PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
