import type { Command } from 'commander';
import pg from 'pg';
import { MODULES } from '../../../service/src/modules.js';
import { readConnection } from '../connection.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';

const CONNECT_WITHIN_MS = 5_000;

/** The tools that migrate are large. */
const loadMigrate = () => import('#platform/postgres/migrate.js');

const ONE_ROLE =
  'DATABASE_OWNER_URL is not set: the service’s own role owns the schemas. ops database prepare creates a separate owner.';

export const addMigrateCommand = (command: Command): void => {
  command
    .addHelpText(
      'after',
      '\nConnects with DATABASE_OWNER_URL and grants the role of DATABASE_URL its rights. Without DATABASE_OWNER_URL it connects with DATABASE_URL.',
    )
    .action(async (_: object, command: Command) => {
      const { DATABASE_URL, DATABASE_OWNER_URL } = readConnection(process.env);
      if (DATABASE_OWNER_URL === undefined) {
        const { migrate } = await loadMigrate();
        await migrate(DATABASE_URL, MODULES);
        print(command, { migrated: true, note: ONE_ROLE }, `The schema is up to date. ${ONE_ROLE}`);
        return;
      }
      const application = await roleOf(DATABASE_URL);
      const { migrate } = await loadMigrate();
      await migrate(DATABASE_OWNER_URL, MODULES, application);
      print(
        command,
        { migrated: true, application },
        `The schema is up to date, and ${application} may use it`,
      );
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
