import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate } from '#platform/postgres/migrate.js';
import { prepareDatabase } from '#platform/postgres/prepare-database.js';
import { MODULES } from '../../../service/src/modules.js';
import { ADMINISTRATOR } from './cluster.js';
import { SOCKET_NUMBER } from './sockets.js';

const DATABASE = ADMINISTRATOR;
const OWNER = 'reading_service_owner';
/** The role of API and worker. */
export const APPLICATION = 'reading_service_app';

/** The URL of the embedded database for each role. */
export interface DatabaseUrls {
  /** The superuser: only for the stack itself, never for its child processes. */
  readonly admin: string;
  /** Owner of the schemas: for migrations and rebuilds. */
  readonly owner: string;
  /** Reads and writes rows: for the API and the worker. */
  readonly application: string;
}

/** @returns the URL of a role. A URL needs a host; the parameter `host` overrides it with the socket folder. */
const urlOf = (sockets: string, role: string, password: string): string =>
  `postgresql://${role}:${encodeURIComponent(password)}@localhost:${SOCKET_NUMBER}/${DATABASE}?host=${encodeURIComponent(sockets)}`;

/** @param password of the superuser. The other roles get new passwords at each start; these are not stored. */
export const databaseUrls = (sockets: string, password: string): DatabaseUrls => {
  const fresh = (): string => randomBytes(24).toString('base64url');
  return {
    admin: urlOf(sockets, ADMINISTRATOR, password),
    owner: urlOf(sockets, OWNER, fresh()),
    application: urlOf(sockets, APPLICATION, fresh()),
  };
};

/** Creates the database and the roles, and gives the owner all objects that an older version created as superuser. */
export const prepareEmbeddedRoles = async ({ admin, owner, application }: DatabaseUrls): Promise<void> => {
  const anyDatabase = new URL(admin);
  anyDatabase.pathname = '/postgres';
  const roles = { adminUrl: anyDatabase.href, ownerUrl: owner, applicationUrl: application };
  await prepareDatabase(roles, MODULES, true);
};

/** Like {@link prepareEmbeddedRoles}, and runs the migrations. */
export const prepareEmbeddedDatabase = async (urls: DatabaseUrls): Promise<void> => {
  await prepareEmbeddedRoles(urls);
  await migrate(urls.owner, MODULES, APPLICATION);
};

/** Size of a file of PostgreSQL's log (bytes): the default of initdb. */
const LOG_FILE_BYTES = 16 * 1024 * 1024;
/** Files that PostgreSQL's log has in stock on a disk that runs short. */
const STOCK = 3;
/** Free bytes that the stock leaves. */
const LEAVE_FREE = 32 * 1024 * 1024;

const STOCKED = `select count(*)::int as files from pg_ls_waldir()
  where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_insert_lsn())`;
/** A switch needs something in the present file. */
const NEXT_FILE = `select pg_logical_emit_message(false, 'stock', 'next'), pg_switch_wal()`;

/**
 * Prepares PostgreSQL for a full disk. Its log gets its next files while there is room; then a checkpoint lets it use
 * the old files again. Without a next file and without room, PostgreSQL panics.
 *
 * @param free bytes on its disk
 */
export const stockLog = async ({ admin }: DatabaseUrls, free: number): Promise<void> => {
  const client = new pg.Client({ connectionString: admin, connectionTimeoutMillis: 30_000 });
  // Without a listener, a server that ends meanwhile would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('checkpoint');
    const { rows } = await client.query<{ files: number }>(STOCKED);
    const missing = STOCK - rows[0]!.files;
    if (missing <= 0 || free < missing * LOG_FILE_BYTES + LEAVE_FREE) return;
    for (let file = 0; file < missing; file += 1) await client.query(NEXT_FILE);
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
};
