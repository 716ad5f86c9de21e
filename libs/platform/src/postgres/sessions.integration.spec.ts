import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { installationOf } from '../crypto/installation.js';
import { faultOf } from '../fault/fault.js';
import { migrate } from './migrate.js';
import { openPool, refuseOtherInstallation } from './pool.js';

const OURS = installationOf({ DIGEST_KEY: Buffer.alloc(32, 1).toString('base64') });
const OTHER = installationOf({ DIGEST_KEY: Buffer.alloc(32, 2).toString('base64') });

let postgres: StartedPostgres;
let pools: pg.Pool[];

beforeEach(async () => {
  postgres = await freshDatabase();
  pools = [];
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await postgres.stop();
});

const open = (name: string, isNoted = true): pg.Pool => {
  const pool = openPool(postgres.databaseUrl, {
    size: 2,
    applicationName: 'x',
    onError: () => undefined,
    queryTimeoutMs: 60_000,
    installation: { name, isNoted },
  });
  pools.push(pool);
  return pool;
};
const asked = (pool: pg.Pool): Promise<unknown> =>
  pool.query('select 1').then(
    () => 'answered',
    (error: unknown) => error,
  );
const noted = async (): Promise<unknown[]> => {
  const { rows } = await open(OURS, false).query('select fingerprint from platform.installation');
  return rows;
};
/** Shadows functions of PostgreSQL for the sessions that begin from now on. */
const shadow = async (functions: string): Promise<void> => {
  const database = new URL(postgres.databaseUrl).pathname.slice(1);
  await open(OURS).query(`create schema says; ${functions};
    alter database "${database}" set search_path = says, public, pg_catalog`);
};
const PRETENDS_TO_BE_14 = `create function says.current_setting(name text) returns text language sql
  as $$ select case name when 'server_version_num' then '140011' when 'server_version' then '14.11'
               else pg_catalog.current_setting(name) end $$`;

describe('A session', () => {
  it.each([
    [
      'a PostgreSQL that is too old',
      PRETENDS_TO_BE_14,
      'PostgreSQL is too old for this program (PostgreSQL 14.11 is older than 15)',
    ],
    [
      'a standby',
      `create function says.pg_is_in_recovery() returns boolean language sql as 'select true'`,
      'PostgreSQL takes no writes (it is a standby)',
    ],
  ])('on %s is refused with its cause, as a dependency that is away', async (_, functions, message) => {
    await shadow(functions);
    const error = await asked(open(OURS));
    expect(faultOf(error)).toMatchObject({ message });
    expect(isDependencyAway(error)).toBe(true);
  });

  it('notes the installation of an unused database; that of another one is refused with its cause', async () => {
    expect(await asked(open(OURS))).toBe('answered');
    expect(await asked(open(OURS))).toBe('answered');
    for (const isNoted of [true, false]) {
      const error = await asked(open(OTHER, isNoted));
      expect(faultOf(error)).toMatchObject({
        kind: 'other_installation',
        message: 'PostgreSQL was not used with this DIGEST_KEY (its installation has another one)',
      });
      expect(isDependencyAway(error)).toBe(true);
    }
    expect(await noted()).toEqual([{ fingerprint: OURS }]);
  });

  it('of a command notes nothing', async () => {
    expect(await asked(open(OTHER, false))).toBe('answered');
    expect(await noted()).toEqual([]);
  });

  it('of many processes that start at once is refused in all but those of one installation', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, place) => asked(open(place % 2 === 0 ? OURS : OTHER))),
    );
    const [even, odd] = [0, 1].map((rest) => answers.filter((_, place) => place % 2 === rest));
    const welcome = [even!, odd!].filter((those) => those.every((one) => one === 'answered'));
    expect(welcome).toHaveLength(1);
    expect(answers.filter((one) => one === 'answered')).toHaveLength(4);
  });
});

it('A database on a server that is too old is not migrated; one of today is, by many processes at once', async () => {
  const url = postgres.databaseUrl;
  await Promise.all([migrate(url, []), migrate(url, []), migrate(url, [])]);
  await shadow(PRETENDS_TO_BE_14);
  await expect(migrate(url, [])).rejects.toThrow('PostgreSQL 14.11 is older than 15');
});

it('A name that could carry SQL is refused', () => {
  expect(() => refuseOtherInstallation("'; drop table x; --", true)).toThrow('names no installation');
});
