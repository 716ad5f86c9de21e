import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Migrated } from './schemas.js';

/** Lock id, an arbitrary number: one process at a time builds indexes. */
const BUILDING = 7_230_165;
const BETWEEN_TRIES_MS = 500;

/**
 * Builds the indexes of large tables that are missing, one after the other. Writers are not blocked. A build that was
 * interrupted left an invalid index, which is dropped and built again.
 */
export const buildOnlineIndexes = async (databaseUrl: string, modules: Migrated): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const [name, on] of modules.flatMap(({ onlineIndexes = {} }) => Object.entries(onlineIndexes))) {
      if (await isValid(client, name)) continue;
      await locked(client);
      await build(client, name, on);
      await client.query('select pg_advisory_unlock($1)', [BUILDING]);
    }
  } finally {
    await client.end();
  }
};

/** Asks again and again: a session that waits for the lock would be waited for by the build that has it. */
const locked = async (client: pg.Client): Promise<void> => {
  const TRY = 'select pg_try_advisory_lock($1) as locked';
  while (!(await client.query<{ locked: boolean }>(TRY, [BUILDING])).rows[0]!.locked)
    await delay(BETWEEN_TRIES_MS);
};

const build = async (client: pg.Client, name: string, on: string): Promise<void> => {
  if (await isValid(client, name)) return;
  const [, index = name] = name.split('.');
  await client.query(`drop index concurrently if exists ${name}`);
  await client.query(`create index concurrently ${index} on ${on}`);
};

const isValid = async (client: pg.Client, name: string): Promise<boolean> => {
  const { rowCount } = await client.query(
    'select from pg_index where indexrelid = to_regclass($1) and indisvalid',
    [name],
  );
  return rowCount === 1;
};
