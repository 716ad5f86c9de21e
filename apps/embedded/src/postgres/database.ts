import { randomBytes } from 'node:crypto';
import { migrate } from '@app/platform/postgres/migrate.js';
import { prepareDatabase } from '@app/platform/postgres/prepare-database.js';
import { MODULES } from '../../../service/src/modules.js';
import { ADMINISTRATOR } from './cluster.js';
import { SOCKET_NUMBER } from './sockets.js';

const DATABASE = ADMINISTRATOR;
const OWNER = 'reading_service_owner';
const APPLICATION = 'reading_service_app';

/** How each role reaches the embedded database. */
export interface DatabaseUrls {
  /** The superuser: for the stack itself, and for nothing that it starts. */
  readonly admin: string;
  /** Owns the schemas: for migrations and rebuilds. */
  readonly owner: string;
  /** Reads and writes rows: for API and worker. */
  readonly application: string;
}

/** @returns the URL of a role; a URL needs a host, which the parameter of that name replaces. */
const urlOf = (sockets: string, role: string, password: string): string =>
  `postgresql://${role}:${encodeURIComponent(password)}@localhost:${SOCKET_NUMBER}/${DATABASE}?host=${encodeURIComponent(sockets)}`;

/** @param password of the superuser. The other roles get new passwords at each start, which are kept nowhere. */
export const databaseUrls = (sockets: string, password: string): DatabaseUrls => {
  const fresh = (): string => randomBytes(24).toString('base64url');
  return {
    admin: urlOf(sockets, ADMINISTRATOR, password),
    owner: urlOf(sockets, OWNER, fresh()),
    application: urlOf(sockets, APPLICATION, fresh()),
  };
};

/** Makes database and roles, gives the owner what an older version made as superuser, and brings it up to date. */
export const prepareEmbeddedDatabase = async ({ admin, owner, application }: DatabaseUrls): Promise<void> => {
  const anyDatabase = new URL(admin);
  anyDatabase.pathname = '/postgres';
  const roles = { adminUrl: anyDatabase.href, ownerUrl: owner, applicationUrl: application };
  await prepareDatabase(roles, MODULES, true);
  await migrate(owner, MODULES, APPLICATION);
};
