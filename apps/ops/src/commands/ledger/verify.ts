import type { Command } from 'commander';
import { VerifyLedger, type LedgerVerification } from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { describeCompensated } from '../corrections.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { withProgress } from '../../progress.js';
import { chosenWorkspace, modeOption, type Chosen } from './options.js';
import { passedOver } from './passed-over.js';

export const addVerify = (ledger: Command): void => {
  ledger
    .command('verify')
    .description(
      'check hash chain, revisions, invariants and signatures of corrections; exit code 1 on any finding',
    )
    .option('--workspace <id>', 'one workspace')
    .option('--all', 'every credit book in the log')
    .addOption(modeOption())
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger verify --workspace ws_…\n  ops ledger verify --all --json',
    )
    .action(async (options: Chosen & { mode: Mode }, command: Command) => {
      const workspaceId = chosenWorkspace(options);
      const found = await withSession(async ({ queries, requireWorkspace }) => {
        if (workspaceId !== null) await requireWorkspace(workspaceId);
        return withProgress('verify', (progress) =>
          queries.execute(new VerifyLedger(workspaceId, progress, options.mode === 'live')),
        );
      });
      const { books, corrections } = found;
      if (workspaceId !== null && books.length === 0) {
        throw new OpsError(
          `The workspace ${workspaceId} has no ${options.mode === 'test' ? 'test' : 'credit'} book.`,
        );
      }
      const ok = corrections.length === 0 && books.every(({ findings }) => findings.length === 0);
      print(command, { ok, ...found }, describe(found));
      if (!ok) process.exitCode = 1;
    });
};

const describe = ({ books, corrections, compensated }: LedgerVerification): string =>
  [
    table(
      ['workspace', 'events', 'findings', 'first bad', 'head hash'],
      books.map(({ workspaceId, events, findings, firstBadRevision, headHash }) => [
        workspaceId,
        events,
        findings.length,
        firstBadRevision === null ? '' : String(firstBadRevision),
        headHash,
      ]),
    ),
    ...books.flatMap(({ workspaceId, setAside }) =>
      setAside.map((entry) => `${workspaceId} ${passedOver(entry)}`),
    ),
    ...books.flatMap(({ workspaceId, findings }) =>
      findings.map(
        ({ revision, check, message }) => `${workspaceId} revision ${revision}: ${check}: ${message}`,
      ),
    ),
    ...corrections.map(
      ({ stream, revision, message }) => `${stream} revision ${revision}: correction: ${message}`,
    ),
    ...compensated.map(describeCompensated),
  ].join('\n');
