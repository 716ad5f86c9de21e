import { Command, CommanderError } from 'commander';
import { addAuditCommand } from './commands/audit.js';
import { addCreditsCommands } from './commands/credits.js';
import { addDatabaseCommands } from './commands/database.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addEraseCommand } from './commands/erase.js';
import { addEventStoreCommands } from './commands/event-store.js';
import { addEventsCommand } from './commands/events.js';
import { addKeyCommands } from './commands/key.js';
import { addKeysCommands } from './commands/keys.js';
import { addLedgerCommands } from './commands/ledger.js';
import { addMigrateCommand } from './commands/migrate.js';
import { addProcessesCommands } from './commands/processes.js';
import { addProjectionsCommands } from './commands/projections.js';
import { addStreamsCommands } from './commands/streams.js';
import { addTokenCommands } from './commands/token.js';
import { addWebhooksCommands } from './commands/webhooks.js';
import { addWorkspaceCommands } from './commands/workspace.js';
import { printableLines } from '@app/platform/text/printable.js';
import { OpsError } from './ops-error.js';
import { tell } from './output.js';

/** The commands, each of which explains itself with `--help`. */
const program = (): Command => {
  const ops = new Command('ops')
    .description(
      'Operates a reading service: the embedded stack on DATA_DIR, or whatever DATABASE_URL and EVENTSTORE_URL name.',
    )
    .option('--json', 'print one JSON value instead of text')
    // Refusals repeat what was typed, or pasted.
    .configureOutput({ writeErr: (text) => process.stderr.write(printableLines(text)) })
    .exitOverride();
  for (const add of [
    addWorkspaceCommands,
    addKeyCommands,
    addTokenCommands,
    addCreditsCommands,
    addLedgerCommands,
    addWebhooksCommands,
    addProjectionsCommands,
    addProcessesCommands,
    addStreamsCommands,
    addEventsCommand,
    addEraseCommand,
    addKeysCommands,
    addDatabaseCommands,
    addEventStoreCommands,
    addAuditCommand,
    addMigrateCommand,
    addDoctorCommand,
  ])
    add(ops);
  acceptJson(ops);
  return ops;
};

/** `--json` is welcome after the sub-command too, where hands put it. */
const acceptJson = (command: Command): void => {
  for (const child of command.commands) {
    if (child.commands.length === 0) child.option('--json', 'print one JSON value instead of text');
    acceptJson(child);
  }
};

/**
 * Carries out one command line, and prints what it has to say.
 * @returns the exit code: 0, or 1 when it was refused, failed, or found something wrong
 */
export const run = async (args: readonly string[]): Promise<number> => {
  process.exitCode = 0;
  try {
    await program().parseAsync(args, { from: 'user' });
    return process.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const message =
      error instanceof OpsError
        ? error.message
        : `Unexpected: ${error instanceof Error ? error.message : 'error'}`;
    tell(message);
    return 1;
  }
};
