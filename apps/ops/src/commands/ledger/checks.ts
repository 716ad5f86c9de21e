import type { Command } from 'commander';
import { execFile } from 'node:child_process';
import {
  ReconcileLedger,
  VerifyLedger,
  type LedgerDifference,
  type LedgerVerification,
} from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { projectPath } from '#platform/project-path.js';
import { OpsError, print, tableOf, withProgress } from '../../output.js';
import { withWorkspace } from '../../session.js';
import { describeCompensated } from '../corrections.js';
import { wholeFrom } from '../options.js';
import { chosenWorkspace, modeOption, passedOver, type Chosen } from './reports.js';

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

interface FileOptions {
  readonly operators?: string;
  readonly month?: string;
  readonly publicKey?: string;
  readonly handover?: readonly string[];
}

/** Runs the auditor's program, which imports nothing of this one. Without a connection: the files alone decide. */
export const addVerifyFile = (ledger: Command): void => {
  ledger
    .command('verify-file')
    .description('check a jsonl export or a month offline; exit code 1 on any finding')
    .argument('[export]', 'a file from ops ledger export --format jsonl')
    .option('--operators <file>', 'the setting OPERATORS, whose keys must have signed each correction')
    .option('--month <folder>', 'the unpacked archive of ops ledger month')
    .option('--public-key <file>', 'the public key (PEM) that must verify the month')
    .option('--handover <file...>', 'a key handover that the public key signed')
    .addHelpText('after', '\nExample:\n  ops ledger verify-file --month 2026-04 --public-key seal-public.pem')
    .action(async (file: string | undefined, options: FileOptions, command: Command) => {
      const { operators, month, publicKey, handover = [] } = options;
      const isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
      const given = Object.entries({ operators, month, 'public-key': publicKey });
      const { code, stdout, stderr } = await run([
        projectPath('tools', 'verify-ledger.mjs'),
        ...(isJson ? ['--json'] : []),
        ...given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
        ...handover.map((one) => `--handover=${one}`),
        ...(file === undefined ? [] : ['--', file]),
      ]);
      if (stdout === '') throw new OpsError(stderr.trim());
      print(command, isJson ? inOne(stdout) : {}, stdout.trimEnd(), code !== 0);
    });
};

/** The answer about an export has what a month says of itself only in `ok`. */
const inOne = (lines: string): object => {
  const checked = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly ok: boolean });
  return { ...checked.at(-1), ok: checked.every(({ ok }) => ok) };
};

const run = (args: readonly string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const limits = { maxBuffer: 64 * 2 ** 20 };
    execFile(process.execPath, args, limits, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, stdout, stderr }),
    );
  });
