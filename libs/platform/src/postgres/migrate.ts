import { existsSync } from 'node:fs';
import { runMigrations as installJobs } from 'graphile-worker';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { LONGEST_PAUSE_MS } from '#event-sourcing/projections/checkpoint.js';
import {
  grantToApplication,
  migrationsOf,
  MIGRATIONS_SCHEMA,
  migratedLibraries,
  schemaOf,
  type Migrated,
} from './schemas.js';
import { REFUSE_OLD_SERVER, openPool } from './pool.js';

/**
 * Migrates the database to the schema of this program. Safe to run in many processes at once: an advisory lock
 * serialises them.
 * @param databaseUrl with the role that will own the schemas
 * @param modules whose migrations follow those of the kernel and the platform, in this order
 * @param application the role of API and worker, which gets its rights on the schemas; without it, or when it is the
 *   owner itself, nothing is granted
 */
export const migrate = async (
  databaseUrl: string,
  modules: Migrated,
  application?: string,
): Promise<void> => {
  await applyMigrations(databaseUrl, modules);
  await prepareJobs(databaseUrl, modules, application);
};

/**
 * Migrates an empty database only as far as another one was, so that rows of that one can be loaded. Grants nothing:
 * until {@link migrate} follows, only the owner can use the tables.
 * @param applied number of applied migrations by library
 */
export const migrateTo = async (
  databaseUrl: string,
  modules: Migrated,
  applied: Readonly<Record<string, number>>,
): Promise<void> => {
  await applyMigrations(databaseUrl, modules, applied);
  await prepareJobs(databaseUrl, modules);
};

const prepareJobs = async (databaseUrl: string, modules: Migrated, application?: string): Promise<void> => {
  const pool = openPool(databaseUrl, { size: 1, applicationName: 'migrate', onError: () => undefined });
  try {
    await installJobs({ pgPool: pool });
    if (application === undefined) return;
    const client = await pool.connect();
    try {
      const { rows } = await client.query<{ owner: string }>('select current_user as owner');
      if (rows[0]?.owner !== application) await grantToApplication(client, modules, application);
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
};

const applyMigrations = async (
  databaseUrl: string,
  modules: Migrated,
  applied?: Readonly<Record<string, number>>,
): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`do $$ begin ${REFUSE_OLD_SERVER} end $$`);
    // A frozen migration must not keep its locks for ever.
    await client.query(`set idle_in_transaction_session_timeout = ${LONGEST_PAUSE_MS}`);
    await client.query('create schema if not exists migrations');
    for (const owner of migratedLibraries(modules)) {
      const dir = migrationsOf(owner);
      const count = applied ? (applied[owner] ?? 0) : Infinity;
      if (!existsSync(dir) || count === 0) continue;
      await runner({
        dbClient: client,
        dir,
        direction: 'up',
        count,
        migrationsSchema: MIGRATIONS_SCHEMA,
        migrationsTable: schemaOf(owner),
        advisoryLockMode: 'wait',
        log: () => undefined,
      });
    }
  } finally {
    await client.end();
  }
};
