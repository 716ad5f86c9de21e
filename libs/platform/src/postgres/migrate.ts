import { existsSync, readdirSync } from 'node:fs';
import { runMigrations as installJobs } from 'graphile-worker';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { projectPath } from '../project-path.js';
import { openPool } from './pool.js';

/** Every library with SQL of its own, in the order in which they may refer to each other. */
const OWNERS = [
  'event-sourcing',
  'platform',
  'workspaces',
  'readings',
  'publishing',
  'billing',
  'webhooks',
] as const;

const folderOf = (owner: string): string => projectPath('libs', owner, 'migrations');
const tableOf = (owner: string): string => owner.replaceAll('-', '_');

/** Migrations of this program that the database has not seen, as `<library>/<name>`. */
export const pendingMigrations = async (databaseUrl: string): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const pending: string[] = [];
    for (const owner of OWNERS) {
      const names = existsSync(folderOf(owner))
        ? readdirSync(folderOf(owner)).map((file) => file.replace(/[.]sql$/, ''))
        : [];
      const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
        `migrations.${tableOf(owner)}`,
      ]);
      const applied = rows[0]?.there
        ? (await client.query<{ name: string }>(`select name from migrations.${tableOf(owner)}`)).rows
        : [];
      const known = new Set(applied.map(({ name }) => name));
      pending.push(...names.filter((name) => !known.has(name)).map((name) => `${owner}/${name}`));
    }
    return pending;
  } finally {
    await client.end();
  }
};

/**
 * Brings the database to the schema of this program. Safe to run from many processes at once: they wait for one
 * another on an advisory lock.
 */
export const migrate = async (databaseUrl: string): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('create schema if not exists migrations');
    for (const owner of OWNERS) {
      const dir = folderOf(owner);
      if (!existsSync(dir)) continue;
      await runner({
        dbClient: client,
        dir,
        direction: 'up',
        migrationsSchema: 'migrations',
        migrationsTable: tableOf(owner),
        advisoryLockMode: 'wait',
        log: () => undefined,
      });
    }
  } finally {
    await client.end();
  }
  const pool = openPool(databaseUrl, { size: 1, applicationName: 'migrate', onError: () => undefined });
  try {
    await installJobs({ pgPool: pool });
  } finally {
    await pool.end();
  }
};
