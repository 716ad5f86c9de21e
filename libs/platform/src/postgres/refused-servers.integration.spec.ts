import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
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
    queryTimeoutMs: 60_000,
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

it('a session on a standby is refused with its cause, as a dependency that is away', async () => {
  const standby = await freshDatabase();
  const owner = openPool(standby.databaseUrl, { size: 1, applicationName: 'x', onError: () => undefined });
  const database = new URL(standby.databaseUrl).pathname.slice(1);
  await owner.query(`create schema says;
    create function says.pg_is_in_recovery() returns boolean language sql as 'select true';
    alter database "${database}" set search_path = says, public, pg_catalog`);
  await owner.end();
  const pool = openPool(standby.databaseUrl, {
    size: 1,
    applicationName: 'x',
    onError: () => undefined,
    queryTimeoutMs: 60_000,
  });
  try {
    const error: unknown = await pool.query('select 1').catch((reason: unknown) => reason);
    expect(faultOf(error)).toMatchObject({
      kind: 'read_only',
      message: 'PostgreSQL takes no writes (it is a standby)',
    });
    expect(isDependencyAway(error)).toBe(true);
  } finally {
    await pool.end();
    await standby.stop();
  }
});

it('a database on a server that is too old is not migrated', async () => {
  await expect(migrate(postgres.databaseUrl, [])).rejects.toThrow('PostgreSQL 14.11 is older than 15');
});
