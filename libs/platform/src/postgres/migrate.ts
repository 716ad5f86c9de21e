import { existsSync } from 'node:fs';
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
      const dir = projectPath('libs', owner, 'migrations');
      if (!existsSync(dir)) continue;
      await runner({
        dbClient: client,
        dir,
        direction: 'up',
        migrationsSchema: 'migrations',
        migrationsTable: owner.replaceAll('-', '_'),
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
