import type { Command } from 'commander';
import { z } from 'zod';
import { NOT_PERMITTED, prepareDatabase, UnusableRoles } from '@app/platform/postgres/prepare-database.js';
import { MODULES } from '../../../service/src/modules.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';

const HELP = `
Three addresses of one database say what is wanted:
  DATABASE_ADMIN_URL   a role that may make roles and databases; for this command alone
  DATABASE_OWNER_URL   the role that is to own the schemas: ops migrate, ops projections
  DATABASE_URL         the role that is to read and write rows: API, worker, every other command

What is missing is made: roles, database, rights. What an older version made as another role is given to the owner. It may
be repeated: then only the passwords are set again. Run ops migrate after it. Statements carry no passwords, but SCRAM
verifiers of them.

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
    .description('make the roles and the database of the service, and give its schemas to their owner')
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
        : [`Prepared, in ${statements.length} statements. Next: ops migrate`, ...refused].join('\n');
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
