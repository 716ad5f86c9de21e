import { Command, CommanderError } from 'commander';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { isDependencyAway, StoreDamaged } from '#event-sourcing/store/errors.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { faultOf } from '#platform/fault/fault.js';
import { printableLines } from '#platform/text/printable.js';
import { OpsError, tell } from './output.js';

/** A top-level command: `ops <name>`. Its code loads when it is called, so that help appears at once. */
interface TopCommand {
  readonly name: string;
  readonly description: string;
  /** @returns the function that adds arguments, options, subcommands and actions */
  readonly load: () => Promise<(command: Command) => void>;
}

/** The commands of a module: it gives, by name, what adds each. */
const of = <N extends string>(
  module: () => Promise<{ readonly commands: Readonly<Record<N, (command: Command) => void>> }>,
  descriptions: Readonly<Record<N, string>>,
): readonly TopCommand[] =>
  (Object.keys(descriptions) as N[]).map((name) => {
    return { name, description: descriptions[name], load: async () => (await module()).commands[name] };
  });

export const TOP_COMMANDS: readonly TopCommand[] = [
  ...of(() => import('./commands/workspace.js'), {
    workspace: 'open and list workspaces',
    portal: 'make links to the workspace portal',
  }),
  ...of(() => import('./commands/key.js'), {
    key: 'issue, list and revoke API keys',
    token: 'mint bearer tokens of the embedded stack’s own issuer',
  }),
  ...of(() => import('./commands/console.js'), {
    console:
      'serve the operators’ pages to this machine: consumers, parked streams, doctor, a reading’s story',
  }),
  ...of(() => import('./commands/billing.js'), {
    plan: 'start, change, cancel and show subscriptions',
    pack: 'add one-off credit packs, propose their refund',
    credits: 'propose corrections of a balance',
  }),
  ...of(() => import('./commands/corrections.js'), {
    corrections: 'approve and list corrections, which two operators sign',
  }),
  ...of(() => import('./commands/ledger.js'), {
    ledger: 'read and audit the credit ledger, close and seal its months',
  }),
  ...of(() => import('./commands/webhooks.js'), {
    webhooks: 'watch webhook endpoints, enable them, replay events',
  }),
  ...of(() => import('./commands/projections.js'), {
    projections: 'inspect read models and rebuild them from the log while they stay in use',
  }),
  ...of(() => import('./commands/parked.js'), {
    parked: 'streams that wait for a consumer: retry them, or set aside the event that stops them',
  }),
  ...of(() => import('./commands/events.js'), {
    streams: 'read event streams; personal data stays sealed',
    events: 'list all events of a reading or a request, in order, across modules, with causes',
  }),
  ...of(() => import('./commands/readings.js'), {
    erase: 'erase the personal data of a reading by deleting its key; this cannot be undone',
    readings: 'after a restore: list and refund paid readings that cannot be read, repeat erasures',
  }),
  ...of(() => import('./commands/keys.js'), {
    keys: 'rotate and destroy key-encryption keys and their epochs while the service runs',
  }),
  ...of(() => import('./commands/servers.js'), {
    database: 'prepare a PostgreSQL server for the service',
    'event-store': 'prepare an EventStoreDB for the service',
    migrate: 'migrate the PostgreSQL schema to this version; safe to run on many machines at once',
  }),
  ...of(() => import('./commands/audit.js'), {
    audit: 'list who requested what, newest first: by reading, key, subject, workspace or address',
  }),
  ...of(() => import('./commands/retention.js'), {
    retention: 'what is kept for how long, what is due, and a round of deletion now',
  }),
  ...of(() => import('./commands/publications.js'), {
    publications: 'publish documents again from new texts, make lost ones again',
  }),
  ...of(() => import('./commands/backup.js'), {
    backup: 'back up PostgreSQL, the event store and the keys while the service runs; verify a backup',
    restore: 'restore a backup to a stopped stack, or to empty servers',
  }),
  ...of(() => import('./commands/doctor.js'), {
    doctor: 'check stores, clock, keys, schema, workers, lag, jobs and disk; exit code 1 on failure',
  }),
];

/** The commands; each has `--help`. Loads only those that `args` names. */
const program = async (args: readonly string[]): Promise<Command> => {
  const ops = new Command('ops')
    .description(
      'Operates a reading service: the embedded stack on DATA_DIR, or the stores at DATABASE_URL and EVENTSTORE_URL.',
    )
    .option('--json', 'print one JSON value instead of text')
    .configureHelp({ showGlobalOptions: true })
    // Refusals repeat what was typed, or pasted.
    .configureOutput({ writeErr: (text) => process.stderr.write(printableLines(text)) })
    .exitOverride();
  for (const { name, description, load } of TOP_COMMANDS) {
    const command = ops.command(name).description(description);
    if (args.includes(name)) (await load())(command);
  }
  return ops;
};

/** @returns the exit code: 0, or 1 when the command was refused, failed, or found something wrong */
export const run = async (args: readonly string[]): Promise<number> => {
  process.exitCode = 0;
  try {
    await (await program(args)).parseAsync(args, { from: 'user' });
    return process.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    tell(messageOf(error));
    return 1;
  }
};

/** What is known says what to do. Anything else is a bug of this program, and is reported as one. */
const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : 'error';
  if (error instanceof OpsError) return message;
  if (error instanceof StoreDamaged)
    return `${message} Restore a backup: docs/runbook.md, "A damaged event store".`;
  if (error instanceof ClockUntrusted)
    return `Nothing was done: ${message}. Correct it (NTP); ops doctor compares the clocks.`;
  if (error instanceof KeysUnavailable)
    return `A key cannot be used now: ${message}. ops keys status says more.`;
  if (error instanceof CorruptEvent) return `${message}. ops doctor says what to do.`;
  const fault = faultOf(error);
  // The message and advice of other faults say more than that the stack is away.
  if ((!fault || fault.kind === 'absent') && isDependencyAway(error))
    return `The stack cannot be reached (${message}). Is it running?`;
  return fault
    ? `${fault.message.charAt(0).toUpperCase()}${fault.message.slice(1)}. ${fault.advice}`
    : `Unexpected: ${message}`;
};
