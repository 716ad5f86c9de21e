import 'reflect-metadata';
import { Command } from 'commander';
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

const ops = new Command('ops')
  .description(
    'Operates a reading service: the embedded stack on DATA_DIR, or whatever DATABASE_URL and EVENTSTORE_URL name.',
  )
  .option('--json', 'print one JSON value instead of text')
  // Refusals repeat what was typed, or pasted.
  .configureOutput({ writeErr: (text) => process.stderr.write(printableLines(text)) });

addWorkspaceCommands(ops);
addKeyCommands(ops);
addTokenCommands(ops);
addCreditsCommands(ops);
addLedgerCommands(ops);
addWebhooksCommands(ops);
addProjectionsCommands(ops);
addProcessesCommands(ops);
addStreamsCommands(ops);
addEventsCommand(ops);
addEraseCommand(ops);
addKeysCommands(ops);
addDatabaseCommands(ops);
addEventStoreCommands(ops);
addAuditCommand(ops);
addMigrateCommand(ops);
addDoctorCommand(ops);

// `--json` is welcome after the sub-command too, where hands put it.
const acceptJson = (command: Command): void => {
  for (const child of command.commands) {
    if (child.commands.length === 0) child.option('--json', 'print one JSON value instead of text');
    acceptJson(child);
  }
};
acceptJson(ops);

try {
  await ops.parseAsync();
} catch (error) {
  const message =
    error instanceof OpsError
      ? error.message
      : `Unexpected: ${error instanceof Error ? error.message : 'error'}`;
  tell(message);
  process.exitCode = 1;
}

/** Resolves once everything written before has left this process. */
const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => output.write('', () => resolve()));

// A call that the event store never answers would keep the process, and whoever waits for it, for as long.
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit();
