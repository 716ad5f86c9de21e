import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '#platform/postgres/migrate.js';
import { prepareDatabase } from '#platform/postgres/prepare-database.js';
import { roleStanding, serviceSchemas } from '#platform/postgres/schemas.js';
import { ops, opsJson } from '../../apps/embedded/src/ops.js';
import { fixture } from '../support/index.js';
import { startPostgres } from '../support/start-postgres.js';
import { MODULES } from '../../apps/service/src/modules.js';

const postgres = fixture(startPostgres);

const as = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** The same server, another role or database. */
const changed = (url: string, { role, password, database }: Record<string, string>): string => {
  const other = new URL(url);
  if (role !== undefined) [other.username, other.password] = [role, password ?? ''];
  if (database !== undefined) other.pathname = `/${database}`;
  return other.href;
};

/** Runs a statement and rolls it back. @returns SQLSTATE of the refusal, or `done` */
const attempt = (url: string, statement: string): Promise<string> =>
  as(url, async (client) => {
    await client.query('begin');
    try {
      await client.query(statement);
      return 'done';
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      await client.query('rollback');
    }
  });

const NOT_PERMITTED = '42501';

describe('an attacker with the application’s database role', () => {
  it.each([
    'create role forged superuser',
    'alter role current_user superuser',
    'alter role reading_service_owner password null',
    'set role reading_service_owner',
    'alter database reading_service owner to current_user',
    `copy (select 1) to program 'id'`,
    `select pg_read_file('/etc/passwd')`,
    'select * from pg_authid',
    'create schema forged',
    'create table public.forged (id int)',
    'create temporary table forged (id int)',
    'create table readings.forged (id int)',
    'drop schema workspaces cascade',
    'truncate readings.reading',
    'alter table readings.reading add column forged text',
    `insert into migrations.readings (name, run_on) values ('9999_forged', now())`,
    'delete from graphile_worker.migrations',
    'alter table graphile_worker._private_jobs disable row level security',
    'create extension pg_stat_statements',
  ])('cannot %s', async (statement) => {
    expect(await attempt(postgres.applicationUrl, statement)).toBe(NOT_PERMITTED);
  });

  it('can read and write the rows of every table', async () => {
    await as(postgres.applicationUrl, async (client) => {
      const { rows } = await client.query<{ table: string; missing: boolean }>(
        `select format('%I.%I', n.nspname, c.relname) as table,
                not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
                 and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete')) as missing
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = any($1) and c.relkind in ('r', 'p') and n.nspname <> 'migrations'`,
        [serviceSchemas(MODULES)],
      );
      expect(rows.length).toBeGreaterThan(20);
      expect(rows.filter(({ missing }) => missing).map(({ table }) => table)).toEqual([
        'graphile_worker.migrations',
      ]);
    });
  });

  it('can use tables that the owner creates later, such as the next version of a read model', async () => {
    await as(postgres.ownerUrl, (client) =>
      client.query('create table readings.reading__v2 (like readings.reading including all)'),
    );
    expect(await attempt(postgres.applicationUrl, 'select from readings.reading__v2')).toBe('done');
    expect(await attempt(postgres.applicationUrl, 'drop table readings.reading__v2')).toBe(NOT_PERMITTED);
    await as(postgres.ownerUrl, (client) => client.query('drop table readings.reading__v2'));
  });
});

describe('the rights of a role', () => {
  it.each([
    ['applicationUrl', { superuser: false, administrator: false, owner: false }],
    ['ownerUrl', { superuser: false, administrator: false, owner: true }],
    ['databaseUrl', { superuser: true, administrator: true, owner: true }],
  ] as const)('are reported for %s, so that the doctor can warn', async (url, expected) => {
    const pool = new pg.Pool({ connectionString: postgres[url], max: 1 });
    expect(await roleStanding(pool, MODULES)).toMatchObject(expected);
    await pool.end();
  });
});

describe('a database that an older version created as a superuser', () => {
  const roles = (database: string) => ({
    DATABASE_ADMIN_URL: postgres.databaseUrl,
    DATABASE_OWNER_URL: changed(postgres.databaseUrl, { role: 'own', password: 'p-own', database }),
    DATABASE_URL: changed(postgres.databaseUrl, { role: 'app', password: 'p:/@pp', database }),
  });
  const environment = (database: string): NodeJS.ProcessEnv => ({
    ...process.env,
    ...roles(database),
    EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    DIGEST_KEY: Buffer.alloc(32).toString('base64'),
  });
  const owners = (database: string) =>
    as(changed(postgres.databaseUrl, { database }), async (client) => {
      const { rows } = await client.query<{ owner: string }>(
        `select distinct pg_get_userbyid(owner) as owner from (
           select nspowner as owner from pg_namespace where nspname = any($1)
           union all select relowner from pg_class where relnamespace::regnamespace::text = any($1)
           union all select proowner from pg_proc where pronamespace::regnamespace::text = any($1)
           union all select typowner from pg_type where typnamespace::regnamespace::text = any($1)) as owned`,
        [serviceSchemas(MODULES)],
      );
      return rows.map(({ owner }) => owner);
    });

  beforeAll(async () => {
    await as(postgres.databaseUrl, (client) => client.query('create database old'));
    await migrate(changed(postgres.databaseUrl, { database: 'old' }), MODULES);
    await as(changed(postgres.databaseUrl, { database: 'old' }), (client) =>
      client.query(`insert into platform.heartbeat (instance, role) values ('a', 'worker')`),
    );
  });

  it('is not changed by a dry run, which shows the statements without passwords', async () => {
    const printed = await ops(environment('old'), ['database', 'prepare', '--dry-run']);
    expect(printed).toContain(`create role "own" with login nosuperuser`);
    expect(printed).toContain('alter schema readings owner to own;');
    expect(printed).toContain("password 'SCRAM-SHA-256$4096:");
    for (const password of ['p-own', 'p:/@pp', 'p%3A']) expect(printed).not.toContain(password);
    expect(await owners('old')).toEqual(['reading_service']);
  });

  it('passes to its owner with its rows; a role that owns nothing uses it', async () => {
    await ops(environment('old'), ['database', 'prepare']);
    expect(await owners('old')).toEqual(['own']);
    expect(await opsJson(environment('old'), ['migrate'])).toEqual({ migrated: true, application: 'app' });
    const { DATABASE_URL } = roles('old');
    await as(DATABASE_URL, async (client) => {
      expect((await client.query('select from platform.heartbeat')).rowCount).toBe(1);
      await client.query('delete from platform.heartbeat');
    });
    expect(await attempt(DATABASE_URL, 'drop table platform.heartbeat')).toBe(NOT_PERMITTED);
  });

  it('can be prepared again, also concurrently: only the passwords are set again', async () => {
    const again = (await opsJson(environment('old'), ['database', 'prepare'])) as { statements: string[] };
    expect(again.statements.filter((statement) => /^(create|alter (?!role))/.test(statement))).toEqual([]);
    await Promise.all([1, 2, 3].map(() => migrate(roles('old').DATABASE_OWNER_URL, MODULES, 'app')));
    expect(await attempt(roles('old').DATABASE_URL, 'select from readings.reading')).toBe('done');
  });

  it('waits at most five seconds for a table in use, since all other statements would wait behind it', async () => {
    await as(changed(postgres.databaseUrl, { database: 'old' }), async (client) => {
      await client.query('alter table platform.heartbeat owner to reading_service');
      await client.query('begin');
      await client.query('select from platform.heartbeat');
      await expect(ops(environment('old'), ['database', 'prepare'])).rejects.toThrow(/in use.*repeat/i);
      await client.query('rollback');
    });
    await ops(environment('old'), ['database', 'prepare']);
  });

  it('is created when it does not exist', async () => {
    await ops(environment('fresh'), ['database', 'prepare']);
    const sorts = await as(changed(postgres.databaseUrl, { database: 'fresh' }), (client) =>
      client.query(
        `select concat_ws(' ', datlocprovider, datcollate, pg_encoding_to_char(encoding)) as by
         from pg_database where datname = current_database()`,
      ),
    );
    expect(sorts.rows).toEqual([{ by: 'c C UTF8' }]);
    await ops(environment('fresh'), ['migrate']);
    expect(await owners('fresh')).toEqual(['own']);
    expect(await attempt(roles('fresh').DATABASE_URL, 'select from readings.reading')).toBe('done');
  });

  it('is not prepared for a role that administers the server, nor for a single role', async () => {
    const { DATABASE_ADMIN_URL: adminUrl, DATABASE_OWNER_URL: ownerUrl } = roles('old');
    const one = { adminUrl, ownerUrl, applicationUrl: adminUrl.replace(/\/reading_service\?/, '/old?') };
    await expect(prepareDatabase(one, MODULES, true)).rejects.toThrow(/administers the server/);
    const single = { ...one, applicationUrl: ownerUrl };
    await expect(prepareDatabase(single, MODULES, true)).rejects.toThrow(/different roles/);
  });

  it('reports a single role when no owner is named', async () => {
    const printed = await ops(
      { ...environment('old'), DATABASE_URL: roles('old').DATABASE_OWNER_URL, DATABASE_OWNER_URL: '' },
      ['migrate'],
    );
    expect(printed).toMatch(/DATABASE_OWNER_URL is not set/);
  });
});
