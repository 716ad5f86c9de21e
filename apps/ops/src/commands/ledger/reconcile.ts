import { InvalidArgumentError, type Command } from 'commander';
import { ReconcileLedger, type LedgerDifference } from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { describeCompensated } from '../corrections.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { chosenWorkspace, modeOption, type Chosen } from './options.js';
import { withProgress } from '../../progress.js';
import { passedOver } from './passed-over.js';

/** Settlement follows a completed reading within seconds, unless the worker is behind. */
const GRACE_S = 60;

interface Options extends Chosen {
  readonly grace: number;
  readonly mode: Mode;
}

export const addReconcile = (ledger: Command): void => {
  ledger
    .command('reconcile')
    .description('compare captures, completed readings and balances; exit code 1 on any difference')
    .option('--workspace <id>', 'one workspace')
    .option('--all', 'every workspace')
    .option(
      '--grace <seconds>',
      'how long a completed reading may wait for its capture, and the balance view for a book',
      parseSeconds,
      GRACE_S,
    )
    .addOption(modeOption())
    .addHelpText('after', '\nExample:\n  ops ledger reconcile --all --json')
    .action(async (options: Options, command: Command) => {
      const workspaceId = chosenWorkspace(options);
      const result = await withSession(async ({ queries, requireWorkspace }) => {
        if (workspaceId !== null) await requireWorkspace(workspaceId);
        return withProgress('reconcile', (progress) =>
          queries.execute(
            new ReconcileLedger(workspaceId, options.grace * 1_000, progress, options.mode === 'live'),
          ),
        );
      });
      const { books, captures, completed, differences, pending, setAside, compensated } = result;
      const summary = `${books} books, ${completed} completed readings, ${captures} captures: ${differences.length} differences, ${pending.length} pending`;
      print(
        command,
        { ok: differences.length === 0, ...result },
        [
          summary,
          ...describe('Differences', differences),
          ...describe('Pending', pending),
          ...setAside.map(passedOver),
          ...compensated.map(describeCompensated),
        ].join('\n'),
      );
      if (differences.length > 0) process.exitCode = 1;
    });
};

const describe = (title: string, found: readonly LedgerDifference[]): string[] =>
  found.length === 0
    ? []
    : [
        '',
        title,
        table(
          ['workspace', 'reading', 'credits event', 'reading event', 'what'],
          found.map(({ workspaceId, readingId, creditsEventId, readingEventId, message }) => [
            workspaceId,
            readingId ?? '',
            creditsEventId ?? '',
            readingEventId ?? '',
            message,
          ]),
        ),
      ];

function parseSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number of seconds');
  return Number(text);
}
