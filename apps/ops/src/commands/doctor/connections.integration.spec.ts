import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import { checkConnections } from './connections.js';

const config = { DATABASE_POOL_SIZE: 12 };
let postgres: StartedPostgres;
let owner: pg.Pool;
let application: pg.Pool;
beforeAll(async () => {
  postgres = await freshDatabase();
  owner = new pg.Pool({ connectionString: postgres.databaseUrl, max: 1 });
  application = new pg.Pool({ connectionString: postgres.applicationUrl, max: 1 });
  for (const pool of [owner, application]) pool.on('error', () => undefined);
});
afterAll(async () => {
  await Promise.all([owner.end(), application.end()]);
  await postgres.stop();
});
beforeEach(() => owner.query('truncate platform.heartbeat'));

const processes = (count: number, age = '0 seconds') =>
  owner.query(
    `insert into platform.heartbeat (instance, role, beat_at)
     select 'process ' || n, 'worker', now() - $2::interval from generate_series(1, $1::integer) n`,
    [count, age],
  );

it('Doctor accepts as many processes as PostgreSQL takes connections of', async () => {
  await processes(7);
  expect(await checkConnections(application, config)).toMatchObject({
    level: 'ok',
    message: expect.stringMatching(/^\d+ of 97 are open; 7 processes may open 91 of 97$/),
  });
});

it('Doctor warns of processes that may open more connections than PostgreSQL takes', async () => {
  await processes(8);
  expect(await checkConnections(application, config)).toMatchObject({
    level: 'warning',
    message: expect.stringMatching(/; 8 processes may open 104 of 97$/),
    advice: expect.stringContaining('DATABASE_POOL_SIZE'),
  });
});

it('Doctor does not count processes that have ended', async () => {
  await processes(8, '1 minute');
  expect(await checkConnections(application, config)).toMatchObject({
    level: 'ok',
    message: expect.stringMatching(/; 0 processes may open 0 of 97$/),
  });
});

it('Doctor warns when others have taken most of what PostgreSQL takes', async () => {
  const full = { query: async () => ({ rows: [{ server: 97, own: 97, open: 90, processes: 1 }] }) };
  expect(await checkConnections(full as never, config)).toMatchObject({ level: 'warning' });
});

it('Doctor does not take connections of others for those of its own role or database', async () => {
  const others = { query: async () => ({ rows: [{ server: 97, own: 30, open: 60, processes: 2 }] }) };
  expect(await checkConnections(others as never, config)).toMatchObject({ level: 'ok' });
});

it('Doctor knows the limit of the database, and that of the role', async () => {
  const name = (url: string, part: 'pathname' | 'username') =>
    pg.escapeIdentifier(new URL(url)[part].replace(/^\//, ''));
  const database = name(postgres.databaseUrl, 'pathname');
  await owner.query(`alter database ${database} connection limit 40`);
  await processes(3);
  expect((await checkConnections(application, config)).message).toContain('39 of 40');
  const role = name(postgres.applicationUrl, 'username');
  await owner.query(`alter role ${role} connection limit 30`);
  expect(await checkConnections(application, config)).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('39 of 30'),
  });
  await owner.query(`alter role ${role} connection limit -1`);
});
