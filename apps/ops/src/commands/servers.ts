import type { Command } from 'commander';
import pg from 'pg';
import { z } from 'zod';
import { readAddress } from '#event-sourcing/store/address.js';
import { prepareDatabase, UnusableRoles } from '#platform/postgres/prepare-database.js';
import { MODULES } from '../../../service/src/modules.js';
import { OpsError, print } from '../output.js';
import { readConnection } from '../session.js';

const DATABASE_HELP = `
Three URLs of one database define the roles:
  DATABASE_ADMIN_URL   a role that may create roles and databases; used only by this command
  DATABASE_OWNER_URL   the role that will own the schemas: ops migrate, ops projections
  DATABASE_URL         the role that will read and write rows: API, worker, all other commands

Creates missing roles, the database and rights. Safe to repeat: a second run only sets the passwords again. The statements
contain SCRAM verifiers, not passwords.

Example:
  ops database prepare && ops migrate`;

const address = z.url({ protocol: /^postgres(ql)?$/ });
const addresses = z.object({
  DATABASE_ADMIN_URL: address,
  DATABASE_OWNER_URL: address,
  DATABASE_URL: address,
});

const addDatabaseCommands = (database: Command): void => {
  database
    .command('prepare')
    .description('create the roles and the database of the service, and give the owner its schemas')
    .option('--dry-run', 'print the statements without running them')
    .addHelpText('after', DATABASE_HELP)
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const given = addresses.safeParse(process.env);
      if (!given.success) {
        const names = [...new Set(given.error.issues.map(({ path }) => String(path[0])))];
        throw new OpsError(`Set ${names.join(', ')} to postgresql://user:password@host:port/database.`);
      }
      const { DATABASE_ADMIN_URL: adminUrl, DATABASE_OWNER_URL: ownerUrl, DATABASE_URL: url } = given.data;
      const urls = { adminUrl, ownerUrl, applicationUrl: url };
      const statements = await prepareDatabase(urls, MODULES, !dryRun).catch((error: unknown) => {
        const { message } = error as Error;
        throw new OpsError(error instanceof UnusableRoles ? message : `The server refused: ${message}`);
      });
      const sql = statements.map((statement) => `${statement};`).join('\n');
      const text = dryRun ? sql : `Prepared with ${statements.length} statements. Next: ops migrate`;
      print(command, { dryRun, statements }, text);
    });
};

const EVENT_STORE_HELP = `
Two URLs define the logins:
  EVENTSTORE_ADMIN_URL   a member of $admins; used only by this command
  EVENTSTORE_URL         the service: its user and password, which this command creates

The login joins a group. The group may then read $all, and read and append to all streams but the system's. It cannot
delete streams or change metadata. Every other login except $admins is refused, unless default access was already set.
Safe to repeat: each run sets the password. Use it for a dedicated store; let the administrator prepare a shared one.

Example:
  export EVENTSTORE_ADMIN_URL='esdb://admin:…@store.example.com:2113?tlsCAFile=/certs/ca.crt'
  ops event-store prepare`;

const addEventStoreCommands = (store: Command): void => {
  store
    .command('prepare')
    .description('create the service’s login and set what it and others may do')
    .option('--group <name>', 'group that gets the access', 'reading-services')
    .addHelpText('after', EVENT_STORE_HELP)
    .action(async ({ group }: { group: string }, command: Command) => {
      const adminUrl = process.env['EVENTSTORE_ADMIN_URL'];
      const login = loginOf(process.env['EVENTSTORE_URL']);
      if (!adminUrl || !loginOf(adminUrl))
        throw new OpsError('Set EVENTSTORE_ADMIN_URL to esdb://admin:password@host:port.');
      if (!login) throw new OpsError('Set EVENTSTORE_URL to esdb://user:password@host:port.');
      if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(group))
        throw new OpsError('--group takes 1 to 64 letters, digits, dots, hyphens and underscores.');
      // Imported late: the event store's client is large.
      const { prepareEventStore, UnpreparableStore } =
        await import('#event-sourcing/store/prepare-eventstoredb.js');
      const parts = await prepareEventStore({ adminUrl, login, group }).catch((error: unknown) => {
        throw error instanceof UnpreparableStore ? new OpsError(error.message) : error;
      });
      const text = parts.map(({ part, change }) => `${part}: ${change}`).join('\n');
      print(command, { username: login.username, group, parts }, text);
    });
};

/** The user and password of a URL; none without both. */
const loginOf = (url = '') => {
  const { login } = readAddress(url);
  return login?.username && login.password ? login : undefined;
};

const CONNECT_WITHIN_MS = 5_000;

const ONE_ROLE =
  'DATABASE_OWNER_URL is not set: the service’s own role owns the schemas. ops database prepare creates a separate owner.';

const addMigrateCommand = (command: Command): void => {
  command
    .addHelpText(
      'after',
      '\nConnects with DATABASE_OWNER_URL, if it is set, and gives the role of DATABASE_URL its rights.',
    )
    .action(async (_: object, command: Command) => {
      const { DATABASE_URL, DATABASE_OWNER_URL } = readConnection(process.env);
      // The tools that migrate are large.
      const { migrate } = await import('#platform/postgres/migrate.js');
      if (DATABASE_OWNER_URL === undefined) {
        await migrate(DATABASE_URL, MODULES);
        return print(command, { migrated: true, note: ONE_ROLE }, `The schema is up to date. ${ONE_ROLE}`);
      }
      const application = await roleOf(DATABASE_URL);
      await migrate(DATABASE_OWNER_URL, MODULES, application);
      const text = `The schema is up to date, and ${application} may use it`;
      print(command, { migrated: true, application }, text);
    });
};

/** Reads the role from the server, because a pooler may change the one in the URL. */
const roleOf = async (databaseUrl: string): Promise<string> => {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  try {
    await client.connect();
    const { rows } = await client.query<{ role: string }>('select current_user as role');
    return rows[0]!.role;
  } catch (error) {
    throw new OpsError(
      `The role of DATABASE_URL cannot connect (${(error as Error).message}). ops database prepare creates it.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
};

export const commands = {
  database: addDatabaseCommands,
  'event-store': addEventStoreCommands,
  migrate: addMigrateCommand,
};
