import type { Command } from 'commander';

/** A command of the first level: `ops <name>`. Its code is loaded when it is called, so that help appears at once. */
export interface TopCommand {
  readonly name: string;
  readonly alias?: string;
  readonly description: string;
  /** Without subcommands. */
  readonly isLeaf?: true;
  readonly argument?: readonly [name: string, description: string];
  /** @returns what adds options, subcommands and actions */
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
    description: 'bearer tokens of the embedded stack’s own issuer',
    load: async () => (await import('./commands/token.js')).addTokenCommands,
  },
  {
    name: 'plan',
    description: 'subscriptions',
    load: async () => (await import('./commands/credits.js')).addPlanCommands,
  },
  {
    name: 'pack',
    description: 'one-off credit packs',
    load: async () => (await import('./commands/credits.js')).addPackCommands,
  },
  {
    name: 'credits',
    description: 'corrections',
    load: async () => (await import('./commands/credits.js')).addCreditsCommands,
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
    description: 'look at read models and build them again from the log, while they are read',
    load: async () => (await import('./commands/projections.js')).addProjectionsCommands,
  },
  {
    name: 'processes',
    description: 'look at what reacts to events, and deal with events that cannot be handled',
    load: async () => (await import('./commands/processes.js')).addProcessesCommands,
  },
  {
    name: 'streams',
    description: 'read event streams; personal data stays sealed',
    load: async () => (await import('./commands/streams.js')).addStreamsCommands,
  },
  {
    name: 'events',
    isLeaf: true,
    description: 'the whole story of a reading or a request, in order, across modules, with causes',
    load: async () => (await import('./commands/events.js')).addEventsCommand,
  },
  {
    name: 'erase',
    argument: ['<readingId>', 'the reading'],
    isLeaf: true,
    description: 'erase the personal data of a reading by deleting its key; it cannot be undone',
    load: async () => (await import('./commands/erase.js')).addEraseCommand,
  },
  {
    name: 'keys',
    alias: 'encryption-keys',
    description: 'key-encryption keys: their epochs, their rotation, their end; while the service runs',
    load: async () => (await import('./commands/keys.js')).addKeysCommands,
  },
  {
    name: 'database',
    description: 'prepare a PostgreSQL server for the service',
    load: async () => (await import('./commands/database.js')).addDatabaseCommands,
  },
  {
    name: 'event-store',
    description: 'prepare an EventStoreDB for the service',
    load: async () => (await import('./commands/event-store.js')).addEventStoreCommands,
  },
  {
    name: 'audit',
    isLeaf: true,
    description: 'who asked for what, the newest first: by reading, key, subject, workspace or address',
    load: async () => (await import('./commands/audit.js')).addAuditCommand,
  },
  {
    name: 'migrate',
    isLeaf: true,
    description: 'bring the Postgres schema to this version; safe to run from many machines at once',
    load: async () => (await import('./commands/migrate.js')).addMigrateCommand,
  },
  {
    name: 'doctor',
    isLeaf: true,
    description: 'check stores, clock, keys, schema, workers, lag, jobs and disk; exit code 1 on a failure',
    load: async () => (await import('./commands/doctor.js')).addDoctorCommand,
  },
];
