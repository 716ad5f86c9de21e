import type { Command } from 'commander';

/** A top-level command: `ops <name>`. Its code loads when it is called, so that help appears at once. */
export interface TopCommand {
  readonly name: string;
  readonly alias?: string;
  readonly description: string;
  /** Whether it does something without a subcommand, and so takes `--json` itself. */
  readonly isLeaf?: true;
  readonly argument?: readonly [name: string, description: string];
  /** @returns the function that adds options, subcommands and actions */
  readonly load: () => Promise<(command: Command) => void>;
}

export const TOP_COMMANDS: readonly TopCommand[] = [
  {
    name: 'workspace',
    description: 'open and list workspaces',
    load: async () => (await import('./commands/workspace.js')).addWorkspaceCommands,
  },
  {
    name: 'key',
    description: 'issue, list and revoke API keys',
    load: async () => (await import('./commands/key.js')).addKeyCommands,
  },
  {
    name: 'token',
    description: 'mint bearer tokens of the embedded stack’s own issuer',
    load: async () => (await import('./commands/key.js')).addTokenCommands,
  },
  {
    name: 'portal',
    description: 'make links to the workspace portal',
    load: async () => (await import('./commands/workspace.js')).addPortalCommands,
  },
  {
    name: 'console',
    isLeaf: true,
    description:
      'serve the operators’ pages to this machine: consumers, parked streams, doctor, a reading’s story',
    load: async () => (await import('./commands/console.js')).addConsoleCommand,
  },
  {
    name: 'plan',
    description: 'start, change, cancel and show subscriptions',
    load: async () => (await import('./commands/billing.js')).addPlanCommands,
  },
  {
    name: 'pack',
    description: 'add one-off credit packs, propose their refund',
    load: async () => (await import('./commands/billing.js')).addPackCommands,
  },
  {
    name: 'credits',
    description: 'propose corrections of a balance',
    load: async () => (await import('./commands/billing.js')).addCreditsCommands,
  },
  {
    name: 'corrections',
    description: 'approve and list corrections, which two operators sign',
    load: async () => (await import('./commands/corrections.js')).addCorrectionsCommands,
  },
  {
    name: 'ledger',
    description: 'read and audit the credit ledger, close and seal its months',
    load: async () => (await import('./commands/ledger.js')).addLedgerCommands,
  },
  {
    name: 'webhooks',
    description: 'watch webhook endpoints, enable them, replay events',
    load: async () => (await import('./commands/webhooks.js')).addWebhooksCommands,
  },
  {
    name: 'projections',
    description: 'inspect read models and rebuild them from the log while they stay in use',
    load: async () => (await import('./commands/projections.js')).addProjectionsCommands,
  },
  {
    name: 'processes',
    description: 'inspect the processes that react to events',
    load: async () => (await import('./commands/projections.js')).addProcessesCommands,
  },
  {
    name: 'parked',
    description: 'streams that wait for a consumer: retry them, or set aside the event that stops them',
    load: async () => (await import('./commands/parked.js')).addParkedCommands,
  },
  {
    name: 'streams',
    description: 'read event streams; personal data stays sealed',
    load: async () => (await import('./commands/streams.js')).addStreamsCommands,
  },
  {
    name: 'events',
    isLeaf: true,
    description: 'list all events of a reading or a request, in order, across modules, with causes',
    load: async () => (await import('./commands/events.js')).addEventsCommand,
  },
  {
    name: 'erase',
    argument: ['<readingId>', 'the reading'],
    isLeaf: true,
    description: 'erase the personal data of a reading by deleting its key; this cannot be undone',
    load: async () => (await import('./commands/readings.js')).addEraseCommand,
  },
  {
    name: 'keys',
    alias: 'encryption-keys',
    description: 'rotate and destroy key-encryption keys and their epochs while the service runs',
    load: async () => (await import('./commands/keys.js')).addKeysCommands,
  },
  {
    name: 'database',
    description: 'prepare a PostgreSQL server for the service',
    load: async () => (await import('./commands/servers.js')).addDatabaseCommands,
  },
  {
    name: 'event-store',
    description: 'prepare an EventStoreDB for the service',
    load: async () => (await import('./commands/servers.js')).addEventStoreCommands,
  },
  {
    name: 'audit',
    isLeaf: true,
    description: 'list who requested what, newest first: by reading, key, subject, workspace or address',
    load: async () => (await import('./commands/audit.js')).addAuditCommand,
  },
  {
    name: 'retention',
    description: 'what is kept for how long, what is due, and a round of deletion now',
    load: async () => (await import('./commands/retention.js')).addRetentionCommands,
  },
  {
    name: 'migrate',
    isLeaf: true,
    description: 'migrate the PostgreSQL schema to this version; safe to run on many machines at once',
    load: async () => (await import('./commands/servers.js')).addMigrateCommand,
  },
  {
    name: 'readings',
    description: 'after a restore: list and refund paid readings that cannot be read, repeat erasures',
    load: async () => (await import('./commands/readings.js')).addReadingsCommands,
  },
  {
    name: 'publications',
    description: 'publish documents again from new texts, make lost ones again',
    load: async () => (await import('./commands/publications.js')).addPublicationsCommands,
  },
  {
    name: 'backup',
    isLeaf: true,
    description: 'back up PostgreSQL, the event store and the keys while the service runs; verify a backup',
    load: async () => (await import('./commands/backup.js')).addBackupCommands,
  },
  {
    name: 'restore',
    isLeaf: true,
    description: 'restore a backup to a stopped stack, or to empty servers',
    load: async () => (await import('./commands/backup.js')).addRestoreCommand,
  },
  {
    name: 'doctor',
    isLeaf: true,
    description: 'check stores, clock, keys, schema, workers, lag, jobs and disk; exit code 1 on failure',
    load: async () => (await import('./commands/doctor.js')).addDoctorCommand,
  },
];
