import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isDependencyAway } from '@app/event-sourcing/store/dependency-away.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { faultOf } from '../fault/fault.js';
import { migrate } from './migrate.js';
import { openPool } from './pool.js';

let postgres: StartedPostgres;

/** A server that says that it is PostgreSQL 14. */
beforeAll(async () => {
  postgres = await freshDatabase();
  const pool = openPool(postgres.databaseUrl, { size: 1, applicationName: 'x', onError: () => undefined });
  const database = new URL(postgres.databaseUrl).pathname.slice(1);
  await pool.query(`create schema old;
    create function old.current_setting(name text) returns text language sql
      as $$ select case name when 'server_version_num' then '140011' when 'server_version' then '14.11'
                   else pg_catalog.current_setting(name) end $$;
    alter database "${database}" set search_path = old, public, pg_catalog`);
  await pool.end();
});

afterAll(() => postgres?.stop());

it('a session on a PostgreSQL that is too old is refused with its cause, as a dependency that is away', async () => {
  const pool = openPool(postgres.databaseUrl, {
    size: 1,
    applicationName: 'x',
    onError: () => undefined,
    queryTimeoutMs: 5_000,
  });
  try {
    const error: unknown = await pool.query('select 1').catch((reason: unknown) => reason);
    expect(faultOf(error)).toMatchObject({
      kind: 'unsupported',
      message: 'PostgreSQL is too old for this program (PostgreSQL 14.11 is older than 15)',
    });
    expect(isDependencyAway(error)).toBe(true);
  } finally {
    await pool.end();
  }
});

it('such a database is not migrated', async () => {
  await expect(migrate(postgres.databaseUrl, [])).rejects.toThrow('PostgreSQL 14.11 is older than 15');
});
