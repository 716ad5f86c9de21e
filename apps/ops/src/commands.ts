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

/** A module of commands gives, by name, what adds each. */
const top = <N extends string>(
  name: N,
  description: string,
  module: () => Promise<{ readonly commands: Readonly<Record<N, (command: Command) => void>> }>,
  more: Pick<TopCommand, 'alias' | 'isLeaf' | 'argument'> = {},
): TopCommand => ({ name, description, load: async () => (await module()).commands[name], ...more });

const LEAF = { isLeaf: true } as const;
const audit = () => import('./commands/audit.js');
const backup = () => import('./commands/backup.js');
const billing = () => import('./commands/billing.js');
const pages = () => import('./commands/console.js');
const corrections = () => import('./commands/corrections.js');
const doctor = () => import('./commands/doctor.js');
const events = () => import('./commands/events.js');
const key = () => import('./commands/key.js');
const keys = () => import('./commands/keys.js');
const ledger = () => import('./commands/ledger.js');
const parked = () => import('./commands/parked.js');
const projections = () => import('./commands/projections.js');
const publications = () => import('./commands/publications.js');
const readings = () => import('./commands/readings.js');
const retention = () => import('./commands/retention.js');
const servers = () => import('./commands/servers.js');
const streams = () => import('./commands/streams.js');
const webhooks = () => import('./commands/webhooks.js');
const workspace = () => import('./commands/workspace.js');

export const TOP_COMMANDS: readonly TopCommand[] = [
  top('workspace', 'open and list workspaces', workspace),
  top('key', 'issue, list and revoke API keys', key),
  top('token', 'mint bearer tokens of the embedded stack’s own issuer', key),
  top('portal', 'make links to the workspace portal', workspace),
  top(
    'console',
    'serve the operators’ pages to this machine: consumers, parked streams, doctor, a reading’s story',
    pages,
    LEAF,
  ),
  top('plan', 'start, change, cancel and show subscriptions', billing),
  top('pack', 'add one-off credit packs, propose their refund', billing),
  top('credits', 'propose corrections of a balance', billing),
  top('corrections', 'approve and list corrections, which two operators sign', corrections),
  top('ledger', 'read and audit the credit ledger, close and seal its months', ledger),
  top('webhooks', 'watch webhook endpoints, enable them, replay events', webhooks),
  top('projections', 'inspect read models and rebuild them from the log while they stay in use', projections),
  top(
    'parked',
    'streams that wait for a consumer: retry them, or set aside the event that stops them',
    parked,
  ),
  top('streams', 'read event streams; personal data stays sealed', streams),
  top(
    'events',
    'list all events of a reading or a request, in order, across modules, with causes',
    events,
    LEAF,
  ),
  top('erase', 'erase the personal data of a reading by deleting its key; this cannot be undone', readings, {
    argument: ['<readingId>', 'the reading'],
    ...LEAF,
  }),
  top('keys', 'rotate and destroy key-encryption keys and their epochs while the service runs', keys, {
    alias: 'encryption-keys',
  }),
  top('database', 'prepare a PostgreSQL server for the service', servers),
  top('event-store', 'prepare an EventStoreDB for the service', servers),
  top(
    'audit',
    'list who requested what, newest first: by reading, key, subject, workspace or address',
    audit,
    LEAF,
  ),
  top('retention', 'what is kept for how long, what is due, and a round of deletion now', retention),
  top(
    'migrate',
    'migrate the PostgreSQL schema to this version; safe to run on many machines at once',
    servers,
    LEAF,
  ),
  top(
    'readings',
    'after a restore: list and refund paid readings that cannot be read, repeat erasures',
    readings,
  ),
  top('publications', 'publish documents again from new texts, make lost ones again', publications),
  top(
    'backup',
    'back up PostgreSQL, the event store and the keys while the service runs; verify a backup',
    backup,
    LEAF,
  ),
  top('restore', 'restore a backup to a stopped stack, or to empty servers', backup, LEAF),
  top(
    'doctor',
    'check stores, clock, keys, schema, workers, lag, jobs and disk; exit code 1 on failure',
    doctor,
    LEAF,
  ),
];
