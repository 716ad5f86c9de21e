import type { Command } from 'commander';
import { auditRetention } from '#platform/audit/audit-records.js';
import { retentionStatus, runRetention } from '#platform/retention/retention.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';
import { LookAtTestReadings } from '#readings/contracts/index.js';
import { LookAtWebhookRetention, RunWebhookRetention } from '#webhooks/contracts/index.js';
import { OpsError, print, tableOf } from '../output.js';
import { withSession, type Session } from '../session.js';
import { example } from './options.js';

/** A kind that is this many days behind its term says that nobody deletes it. */
export const LAGS_FROM_DAYS = 2;

/** What workers alone delete: an erasure goes through the reading's events, one reading after the other. */
export const BY_WORKERS_ALONE = ['test-readings'];

type Parts = Pick<Session, 'pool' | 'config' | 'queries' | 'commands'>;

/** Every kind of data that workers delete after a term. @param now milliseconds since the epoch */
export const retentionOfAll = async (
  { pool, config, queries }: Omit<Parts, 'commands'>,
  now: number,
): Promise<readonly RetentionStatus[]> => [
  ...(await queries.execute(new LookAtWebhookRetention(now))),
  await queries.execute(new LookAtTestReadings(now)),
  await retentionStatus(pool, auditRetention(pool, config), now),
];

/** One round, as workers make it, without what they alone delete. @param kinds `null`: all others */
const runRetentions = async (
  { pool, config, commands }: Omit<Parts, 'queries'>,
  now: number,
  kinds: readonly string[] | null,
): Promise<readonly RetentionRun[]> => {
  const runs = await commands.execute(new RunWebhookRetention(now, kinds));
  const audit = auditRetention(pool, config);
  if (kinds !== null && !kinds.includes(audit.kind)) return runs;
  const own = await runRetention(pool, audit, now, new AbortController().signal);
  return own === null ? runs : [...runs, own];
};

/** What is kept for how long, and what is due. */
const addRetentionCommands = (retention: Command): void => {
  retention
    .command('status')
    .description(
      `each kind of data that ends, and what is due; exit 1 when one is ${LAGS_FROM_DAYS} days late`,
    )
    .addHelpText('after', example('retention status --json | jq .kinds'))
    .action(async (_: object, command: Command) => {
      const kinds = await withSession(async (session) => retentionOfAll(session, await session.time.now()));
      const late = kinds.filter(({ lagDays }) => lagDays >= LAGS_FROM_DAYS).map(({ kind }) => kind);
      const text = [
        describe(kinds),
        ...(kinds.some(({ waitsSince }) => waitsSince !== null) ? ['', WAITS] : []),
        ...(late.length > 0 ? ['', `Late: ${late.join(', ')}. ${whoDeletes(late)}`] : []),
      ];
      print(command, { kinds, late }, text, late.length > 0);
    });

  retention
    .command('run')
    .description('delete now what has outlived its term, as workers do; they alone delete test-readings')
    .option('--kinds <kinds>', 'only these, comma-separated', (text) => text.split(','))
    .addHelpText('after', example('retention run --kinds deliveries,events'))
    .action(async (options: { kinds?: readonly string[] }, command: Command) => {
      const { kinds: named = null } = options;
      const kinds = await withSession(async (session) => {
        const now = await session.time.now();
        if (named !== null) requireKnown(named, await retentionOfAll(session, now));
        return runRetentions(session, now, named);
      });
      const columns = { kind: 'kind', deleted: 'removed', 'kept since': 'keptSince' } as const;
      print(command, { kinds }, tableOf(kinds, columns));
    });
};

const whoDeletes = (kinds: readonly string[]): string =>
  kinds.every((kind) => BY_WORKERS_ALONE.includes(kind))
    ? 'A worker with the role upkeep deletes it; its log says why it does not.'
    : 'ops retention run deletes it now.';

const WAITS =
  'Workers wait: the last round was more than a week ago. When the clock is right, ops retention run lets them continue.';

/** @throws OpsError when a kind is unknown, or the command does not delete it */
const requireKnown = (kinds: readonly string[], all: readonly RetentionStatus[]): void => {
  const known = all.map(({ kind }) => kind);
  if (!kinds.every((kind) => known.includes(kind))) throw new OpsError(`--kinds takes ${known.join(', ')}.`);
  const theirs = kinds.filter((kind) => BY_WORKERS_ALONE.includes(kind));
  if (theirs.length > 0)
    throw new OpsError(
      `Workers alone delete ${theirs.join(', ')}: leave it out of --kinds. Their role is upkeep.`,
    );
};

const MIB = 1_048_576;

const describe = (kinds: readonly RetentionStatus[]): string =>
  tableOf(kinds, {
    kind: 'kind',
    days: 'days',
    'oldest kept': ({ oldest }) => oldest?.slice(0, 16),
    due: ({ due }) => due.rows,
    MiB: ({ due }) => (due.bytes / MIB).toFixed(1),
    partitions: ({ due }) => due.partitions,
    late: ({ lagDays }) => (lagDays === 0 ? '' : `${lagDays} days`),
    'last round': ({ lastRun }) => lastRun?.at.slice(0, 16) ?? 'never',
    next: ({ nextRun }) => nextRun?.slice(0, 16),
  });

export const commands = { retention: addRetentionCommands };
