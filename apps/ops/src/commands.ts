import type { Command } from 'commander';

/** A top-level command: `ops <name>`. Its code loads when it is called, so that help appears at once. */
export interface TopCommand {
  readonly name: string;
  readonly description: string;
  /** @returns the function that adds options, subcommands and actions */
  readonly load: () => Promise<(command: Command) => void>;
  readonly alias?: string;
  /** Whether it does something without a subcommand, and so takes `--json` itself. */
  readonly isLeaf?: true;
  readonly argument?: readonly [name: string, description: string];
}

type More = Pick<TopCommand, 'alias' | 'isLeaf' | 'argument'>;

/** The commands of a module: it gives, by name, what adds each. */
const of = <N extends string>(
  module: () => Promise<{ readonly commands: Readonly<Record<N, (command: Command) => void>> }>,
  commands: Readonly<Record<N, string | readonly [description: string, more: More]>>,
): readonly TopCommand[] =>
  (Object.keys(commands) as N[]).map((name) => {
    const given: string | readonly [string, More] = commands[name];
    const [description, more] = typeof given === 'string' ? [given, {}] : given;
    return { name, description, load: async () => (await module()).commands[name], ...more };
  });

const LEAF = { isLeaf: true } as const;

export const TOP_COMMANDS: readonly TopCommand[] = [
  ...of(() => import('./commands/workspace.js'), {
    workspace: 'open and list workspaces',
    portal: 'make links to the workspace portal',
  }),
  ...of(() => import('./commands/key.js'), {
    key: 'issue, list and revoke API keys',
    token: 'mint bearer tokens of the embedded stack’s own issuer',
  }),
  ...of(() => import('./console/console.js'), {
    console: [
      'serve the operators’ pages to this machine: consumers, parked streams, doctor, a reading’s story',
      LEAF,
    ],
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
    events: ['list all events of a reading or a request, in order, across modules, with causes', LEAF],
  }),
  ...of(() => import('./commands/readings.js'), {
    erase: [
      'erase the personal data of a reading by deleting its key; this cannot be undone',
      { argument: ['<readingId>', 'the reading'], ...LEAF },
    ],
    readings: 'after a restore: list and refund paid readings that cannot be read, repeat erasures',
  }),
  ...of(() => import('./commands/keys.js'), {
    keys: [
      'rotate and destroy key-encryption keys and their epochs while the service runs',
      { alias: 'encryption-keys' },
    ],
  }),
  ...of(() => import('./commands/servers.js'), {
    database: 'prepare a PostgreSQL server for the service',
    'event-store': 'prepare an EventStoreDB for the service',
    migrate: ['migrate the PostgreSQL schema to this version; safe to run on many machines at once', LEAF],
  }),
  ...of(() => import('./commands/audit.js'), {
    audit: ['list who requested what, newest first: by reading, key, subject, workspace or address', LEAF],
  }),
  ...of(() => import('./commands/retention.js'), {
    retention: 'what is kept for how long, what is due, and a round of deletion now',
  }),
  ...of(() => import('./commands/publications.js'), {
    publications: 'publish documents again from new texts, make lost ones again',
  }),
  ...of(() => import('./commands/backup.js'), {
    backup: [
      'back up PostgreSQL, the event store and the keys while the service runs; verify a backup',
      LEAF,
    ],
    restore: ['restore a backup to a stopped stack, or to empty servers', LEAF],
  }),
  ...of(() => import('./commands/doctor.js'), {
    doctor: ['check stores, clock, keys, schema, workers, lag, jobs and disk; exit code 1 on failure', LEAF],
  }),
];
