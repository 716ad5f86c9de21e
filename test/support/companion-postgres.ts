import pg from 'pg';
import { prepareDatabase } from '#platform/postgres/prepare-database.js';
import { MODULES } from '../../apps/service/src/modules.js';
import { startPostgres, type PostgresUrls, type StartedPostgres } from './start-postgres.js';

/** One server, which makes databases out of its first one: much faster than a server for each spec file. */
let server: Promise<StartedPostgres> | undefined;
let made = 0;

const inDatabase = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).href;

const asAdministrator = async (
  work: (client: pg.Client, urls: PostgresUrls) => Promise<void>,
): Promise<void> => {
  server ??= startPostgres();
  const urls = await server.catch((error: unknown) => {
    // The next spec file tries again.
    server = undefined;
    throw error;
  });
  const client = new pg.Client({ connectionString: inDatabase(urls.databaseUrl, 'postgres') });
  await client.connect();
  try {
    await work(client, urls);
  } finally {
    await client.end();
  }
};

/** Makes a database with every module's schema. */
export const makeDatabase = async (): Promise<PostgresUrls> => {
  const name = `spec_${++made}`;
  let database: PostgresUrls | undefined;
  await asAdministrator(async (client, urls) => {
    const template = new URL(urls.databaseUrl).pathname.slice(1);
    await client.query(`create database ${name} template ${template}`);
    database = {
      databaseUrl: inDatabase(urls.databaseUrl, name),
      applicationUrl: inDatabase(urls.applicationUrl, name),
      ownerUrl: inDatabase(urls.ownerUrl, name),
    };
    // A copy has none of the rights on its template.
    await prepareDatabase({ adminUrl: inDatabase(urls.databaseUrl, 'postgres'), ...database }, MODULES, true);
  });
  return database!;
};

/** Drops a database, with the connections that a spec left open. */
export const dropDatabase = (url: string): Promise<void> =>
  asAdministrator(async (client) => {
    await client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  });

export const stopServer = async (): Promise<void> => (await server)?.stop();
