import type { Command } from 'commander';
import { z } from 'zod';
import { NOT_PERMITTED, prepareDatabase, UnusableRoles } from '#platform/postgres/prepare-database.js';
import { MODULES } from '../../../service/src/modules.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';

const HELP = `
Three URLs of one database define the roles:
  DATABASE_ADMIN_URL   a role that may create roles and databases; used only by this command
  DATABASE_OWNER_URL   the role that will own the schemas: ops migrate, ops projections
  DATABASE_URL         the role that will read and write rows: API, worker, all other commands

Creates missing roles, the database and rights. Gives the owner what an older version created with another role. Safe to
repeat: a second run only sets the passwords again. Run ops migrate next. The statements contain SCRAM verifiers, not
passwords.

Examples:
  ops database prepare --dry-run | less
  ops database prepare && ops migrate`;

const address = z.url({ protocol: /^postgres(ql)?$/ });
const addresses = z.object({
  DATABASE_ADMIN_URL: address,
  DATABASE_OWNER_URL: address,
  DATABASE_URL: address,
});

export const addDatabaseCommands = (database: Command): void => {
  database
    .command('prepare')
    .description('create the roles and the database of the service, and give the owner its schemas')
    .option('--dry-run', 'print the statements without running them')
    .addHelpText('after', HELP)
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const given = addresses.safeParse(process.env);
      if (!given.success) {
        const names = [...new Set(given.error.issues.map(({ path }) => String(path[0])))];
        throw new OpsError(`Set ${names.join(', ')} to postgresql://user:password@host:port/database.`);
      }
      const statements = await prepared(given.data, !dryRun);
      const sql = statements.map((statement) => `${statement};`).join('\n');
      const refused = statements.filter((statement) => statement.startsWith(NOT_PERMITTED));
      const text = dryRun
        ? sql
        : [`Prepared with ${statements.length} statements. Next: ops migrate`, ...refused].join('\n');
      print(command, { dryRun, statements }, text);
    });
};

const prepared = async (given: z.infer<typeof addresses>, carryOut: boolean): Promise<readonly string[]> => {
  try {
    return await prepareDatabase(
      {
        adminUrl: given.DATABASE_ADMIN_URL,
        ownerUrl: given.DATABASE_OWNER_URL,
        applicationUrl: given.DATABASE_URL,
      },
      MODULES,
      carryOut,
    );
  } catch (error) {
    if (error instanceof UnusableRoles) throw new OpsError(error.message);
    throw new OpsError(`The server refused: ${(error as Error).message}`);
  }
};
