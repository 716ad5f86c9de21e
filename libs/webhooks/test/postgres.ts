import pg from 'pg';
import { freshDatabase } from '../../../test/support/fresh-database.js';

export interface TestDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  stop(): Promise<void>;
}

/** A separate PostgreSQL with every module's schema. */
export const startDatabase = async (): Promise<TestDatabase> => {
  const postgres = await freshDatabase();
  const pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 10 });
  pool.on('error', () => undefined);
  return {
    url: postgres.databaseUrl,
    pool,
    stop: async () => {
      await pool.end();
      await postgres.stop();
    },
  };
};
