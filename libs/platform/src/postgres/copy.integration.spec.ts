import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { copyIn, copyOut } from './copy.js';

let postgres: StartedPostgres;
let client: pg.Client;

beforeAll(async () => {
  postgres = await freshDatabase();
  // A slow machine may take longer for it than the client of the test waits.
  const patient = new pg.Client({ connectionString: postgres.databaseUrl });
  await patient.connect();
  await patient.query('create table rows (n integer)');
  await patient.end();
  client = new pg.Client({ connectionString: postgres.databaseUrl, query_timeout: 300 });
  await client.connect();
});

afterAll(async () => {
  await client?.end();
  await postgres?.stop();
});

it('Rows may take longer to leave than the connection allows a query', async () => {
  let text = '';
  const slowly = 'copy (select n from generate_series(1, 3) n, pg_sleep(1)) to stdout';
  await copyOut(client, slowly, (chunk) => void (text += String(chunk)));
  expect(text).toBe('1\n2\n3\n');
});

it('Rows that come in have the time of a query', async () => {
  async function* slowly(): AsyncGenerator<Buffer> {
    yield Buffer.from('1\n');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await expect(copyIn(client, 'copy rows from stdin', slowly())).rejects.toThrow('Query read timeout');
});
