import type { Command } from 'commander';
import { migrate } from '@app/platform/postgres/migrate.js';
import { readConnection } from '../connection.js';
import { print } from '../output.js';

export const addMigrateCommand = (ops: Command): void => {
  ops
    .command('migrate')
    .description('bring the Postgres schema to this version; safe to run from many machines at once')
    .action(async (_: object, command: Command) => {
      await migrate(readConnection(process.env).DATABASE_URL);
      print(command, { migrated: true }, 'The schema is up to date');
    });
};
