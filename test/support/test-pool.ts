import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from './fresh-database.js';
import type { StartedPostgres } from './start-postgres.js';

/** For the specs of one file: connections to a database of their own, with every module's schema. */
export const testPool = (as: 'databaseUrl' | 'applicationUrl' = 'databaseUrl'): pg.Pool => {
  const pool = new pg.Pool({ max: 10 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  let postgres: StartedPostgres;
  beforeAll(async () => {
    postgres = await freshDatabase();
    // Read for each connection that is opened.
    pool.options.connectionString = postgres[as];
  });
  afterAll(async () => {
    await pool.end();
    await postgres.stop();
  });
  return pool;
};
