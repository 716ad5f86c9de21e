import { randomBytes } from 'node:crypto';
import { migrate } from '#platform/postgres/migrate.js';
import { prepareDatabase } from '#platform/postgres/prepare-database.js';
import { MODULES } from '../../../service/src/modules.js';
import { SOCKET_NUMBER } from './account.js';
import { ADMINISTRATOR } from './server.js';

const DATABASE = ADMINISTRATOR;
const OWNER = 'reading_service_owner';
/** The role of API and worker. */
export const APPLICATION = 'reading_service_app';

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

/** Creates the database and the roles. */
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
