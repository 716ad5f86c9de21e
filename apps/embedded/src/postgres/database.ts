import pg from 'pg';
import { ROLE } from './cluster.js';

/** @returns the URL of the embedded database on this port. */
export const databaseUrl = (port: number, password: string): string =>
  `postgresql://${ROLE}:${password}@127.0.0.1:${port}/${ROLE}`;

/** Creates the database of a fresh cluster. */
export const ensureDatabase = async (port: number, password: string): Promise<void> => {
  const client = new pg.Client({ host: '127.0.0.1', port, user: ROLE, password, database: 'postgres' });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [ROLE]);
    if (rowCount === 0) await client.query(`create database ${ROLE}`);
  } finally {
    await client.end();
  }
};
