import type { Command } from 'commander';
import {
  ReconcileLedger,
  VerifyLedger,
  type LedgerDifference,
  type LedgerVerification,
} from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { OpsError, print, tableOf, withProgress } from '../../output.js';
import { withWorkspace } from '../../session.js';
import { describeCompensated } from '../corrections.js';
import { wholeFrom } from '../options.js';
import { chosenWorkspace, modeOption, passedOver, type Chosen } from './shared.js';

export const addVerify = (ledger: Command): void => {
  ledger
    .command('verify')
    .description('check hash chain, revisions, invariants and signatures; exit code 1 on any finding')
    .option('--workspace <id>', 'one workspace')
    .option('--all', 'every credit book in the log')
    .addOption(modeOption())
    .addHelpText('after', '\nExample:\n  ops ledger verify --all --json')
    .action(async (options: Chosen & { mode: Mode }, command: Command) => {
      const workspaceId = chosenWorkspace(options);
      const { mode } = options;
      const found = await withWorkspace(workspaceId, ({ queries }) =>
        withProgress('verify', (progress) =>
          queries.execute(new VerifyLedger(workspaceId, progress, mode === 'live')),
        ),
      );
      const { books, corrections } = found;
      if (workspaceId !== null && books.length === 0)
        throw new OpsError(
          `The workspace ${workspaceId} has no ${mode === 'test' ? 'test' : 'credit'} book.`,
        );
      const ok = corrections.length === 0 && books.every(({ findings }) => findings.length === 0);
      print(command, { ok, ...found }, describeVerification(found), !ok);
    });
};

const describeVerification = ({ books, corrections, compensated }: LedgerVerification) => [
  tableOf(books, {
    workspace: 'workspaceId',
    events: 'events',
    findings: ({ findings }) => findings.length,
    'first bad': 'firstBadRevision',
    'head hash': 'headHash',
  }),
  ...books.flatMap(({ workspaceId, setAside }) => setAside.map((one) => `${workspaceId} ${passedOver(one)}`)),
  ...books.flatMap(({ workspaceId, findings }) =>
    findings.map(
      ({ revision, check, message }) => `${workspaceId} revision ${revision}: ${check}: ${message}`,
    ),
  ),
  ...corrections.map((one) => `${one.stream} revision ${one.revision}: correction: ${one.message}`),
  ...compensated.map(describeCompensated),
];

/** Settlement follows a completed reading within seconds, unless the worker is behind. */
const GRACE_S = 60;

export const addReconcile = (ledger: Command): void => {
  ledger
    .command('reconcile')
    .description('compare captures, completed readings and balances; exit code 1 on any difference')
    .option('--workspace <id>', 'one workspace')
    .option('--all', 'every workspace')
    .option('--grace <seconds>', 'how long a capture or the view may lag', wholeFrom(0, 999_999), GRACE_S)
    .addOption(modeOption())
    .addHelpText('after', '\nExample:\n  ops ledger reconcile --all --json')
    .action(async (options: Chosen & { grace: number; mode: Mode }, command: Command) => {
      const workspaceId = chosenWorkspace(options);
      const { grace, mode } = options;
      const result = await withWorkspace(workspaceId, ({ queries }) =>
        withProgress('reconcile', (progress) =>
          queries.execute(new ReconcileLedger(workspaceId, grace * 1_000, progress, mode === 'live')),
        ),
      );
      const { books, captures, completed, differences, pending, setAside, compensated } = result;
      const text = [
        `${books} books, ${completed} completed readings, ${captures} captures: ${differences.length} differences, ${pending.length} pending`,
        ...describeDifferences('Differences', differences),
        ...describeDifferences('Pending', pending),
        ...setAside.map(passedOver),
        ...compensated.map(describeCompensated),
      ];
      const ok = differences.length === 0;
      print(command, { ok, ...result }, text, !ok);
    });
};

const describeDifferences = (title: string, found: readonly LedgerDifference[]): readonly string[] => {
  if (found.length === 0) return [];
  const listed = tableOf(found, {
    workspace: 'workspaceId',
    reading: 'readingId',
    'credits event': 'creditsEventId',
    'reading event': 'readingEventId',
    what: 'message',
  });
  return ['', title, listed];
};
