import { afterAll, beforeAll } from '@jest/globals';
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

/** For the specs of one file: one of their own, stopped after the last. */
export const testDatabase = (): TestDatabase => {
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await startDatabase());
  });
  afterAll(() => database.stop());
  return database;
};
