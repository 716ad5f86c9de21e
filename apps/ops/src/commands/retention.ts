import type { Command } from 'commander';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { BY_WORKERS_ALONE, LAGS_FROM_DAYS, retentionOfAll, runRetentions } from '../retention.js';
import { withSession } from '../session.js';

interface Options {
  readonly dryRun?: boolean;
  readonly kinds?: readonly string[];
}

/** What is kept for how long, and what is due. */
export const addRetentionCommands = (retention: Command): void => {
  addStatus(retention);
  addRun(retention);
};

const addStatus = (retention: Command): void => {
  retention
    .command('status')
    .description(
      `each kind of data that ends: its term, the oldest that is kept, what is due, the last round and the next; exit 1 when one is ${LAGS_FROM_DAYS} days late`,
    )
    .addHelpText('after', '\nExamples:\n  ops retention status\n  ops retention status --json | jq .kinds')
    .action(async (_: object, command: Command) => {
      const kinds = await withSession(async (session) => retentionOfAll(session, await session.time.now()));
      const late = kinds.filter(({ lagDays }) => lagDays >= LAGS_FROM_DAYS).map(({ kind }) => kind);
      print(
        command,
        { kinds, late },
        [
          describe(kinds),
          ...kinds.filter(({ progress }) => progress !== null).flatMap(describeProgress),
          ...(kinds.some(({ waitsSince }) => waitsSince !== null) ? ['', WAITS] : []),
          ...(late.length > 0 ? ['', `Late: ${late.join(', ')}. ${whoDeletes(late)}`] : []),
        ].join('\n'),
      );
      if (late.length > 0) process.exitCode = 1;
    });
};

const whoDeletes = (kinds: readonly string[]): string =>
  kinds.every((kind) => BY_WORKERS_ALONE.includes(kind))
    ? 'A worker with the role upkeep deletes it; its log says why it does not.'
    : 'ops retention run deletes it now.';

const WAITS =
  'Workers wait: the last round was more than a week ago. When the clock is right, ops retention run lets them continue.';

const describeProgress = ({ kind, progress, due }: RetentionStatus): readonly string[] => [
  '',
  `Under way: ${kind} since ${progress!.since.slice(0, 16)}, ${progress!.removed} deleted by ${progress!.lastStep.slice(0, 16)}, ${due.rows} left.`,
];

const addRun = (retention: Command): void => {
  retention
    .command('run')
    .description(
      'delete now what has outlived its term, as workers do every ten minutes; safe beside them. Workers alone delete test-readings',
    )
    .option('--dry-run', 'only show what would be deleted')
    .option('--kinds <kinds>', 'only these, comma-separated', (text) => text.split(','))
    .addHelpText(
      'after',
      '\nExamples:\n  ops retention run --dry-run\n  ops retention run --kinds deliveries,events',
    )
    .action(async ({ dryRun, kinds }: Options, command: Command) => {
      if (dryRun) await showDue(kinds ?? null, command);
      else await deleteDue(kinds ?? null, command);
    });
};

const showDue = async (kinds: readonly string[] | null, command: Command): Promise<void> => {
  const all = await withSession(async (session) => retentionOfAll(session, await session.time.now()));
  requireKnown(kinds, all);
  const due = all.filter(
    ({ kind, due: { rows, partitions } }) => isChosen(kinds, kind) && rows + (partitions ?? 0) > 0,
  );
  print(
    command,
    { dryRun: true, kinds: due },
    due.length === 0 ? 'Nothing is due.' : `${describe(due)}\n\nNothing was deleted: leave out --dry-run.`,
  );
};

const deleteDue = async (kinds: readonly string[] | null, command: Command): Promise<void> => {
  const runs = await withSession(async (session) => {
    const now = await session.time.now();
    if (kinds !== null) {
      requireKnown(kinds, await retentionOfAll(session, now));
      refuseThoseOfWorkers(kinds);
    }
    return runRetentions(session, now, kinds);
  });
  print(
    command,
    { dryRun: false, kinds: runs },
    table(
      ['kind', 'deleted', 'kept since'],
      runs.map(({ kind, removed, keptSince }: RetentionRun) => [kind, removed, keptSince]),
    ),
  );
};

const isChosen = (kinds: readonly string[] | null, kind: string): boolean => kinds?.includes(kind) ?? true;

/** @throws OpsError when a kind is unknown */
const requireKnown = (kinds: readonly string[] | null, all: readonly RetentionStatus[]): void => {
  const known = all.map(({ kind }) => kind);
  if (kinds?.every((kind) => known.includes(kind)) ?? true) return;
  throw new OpsError(`--kinds takes ${known.join(', ')}.`);
};

/** @throws OpsError when the command does not delete a kind */
const refuseThoseOfWorkers = (kinds: readonly string[]): void => {
  const theirs = kinds.filter((kind) => BY_WORKERS_ALONE.includes(kind));
  if (theirs.length === 0) return;
  throw new OpsError(
    `Workers alone delete ${theirs.join(', ')}: leave it out of --kinds. Their role is upkeep.`,
  );
};

const MIB = 1_048_576;

const describe = (kinds: readonly RetentionStatus[]): string =>
  table(
    ['kind', 'days', 'oldest kept', 'due', 'MiB', 'partitions', 'late', 'last round', 'next'],
    kinds.map(({ kind, days, oldest, due, lagDays, lastRun, nextRun }) => [
      kind,
      days,
      oldest?.slice(0, 16) ?? '',
      due.rows,
      (due.bytes / MIB).toFixed(1),
      due.partitions ?? '',
      lagDays === 0 ? '' : `${lagDays} days`,
      lastRun?.at.slice(0, 16) ?? 'never',
      nextRun?.slice(0, 16) ?? '',
    ]),
  );
