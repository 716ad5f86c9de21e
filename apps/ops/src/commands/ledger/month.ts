import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import {
  CloseMonth,
  type CloseMonthResult,
  type LedgerDifference,
  type MonthProblem,
  type MonthStep,
} from '#billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table, tell } from '../../output.js';
import { withSession } from '../../session.js';
import { wholeNumber } from '../options.js';
import { packMonth, writeMonth } from './month-archive.js';
import { parsePeriod } from './options.js';
import { passedOver } from './passed-over.js';
import { onFile } from './seal.js';
import { accountTable, moneyTable } from './statement.js';

interface Options {
  readonly period: string;
  readonly all: true;
  readonly key: string;
  readonly out: string;
  readonly wait: number;
  readonly replace?: boolean;
}

/** As in `ledger reconcile`. */
const GRACE_MS = 60_000;
/** Missing books that the text names. */
const MOST_SHOWN = 20;

export const addMonth = (ledger: Command): void => {
  ledger
    .command('month')
    .description(
      'close, verify, reconcile and seal a past month of all books; exit code 1 when a book is not right',
    )
    .requiredOption('--period <yyyy-mm>', 'the month (UTC)', parsePeriod)
    .requiredOption('--all', 'every book')
    .requiredOption('--key <file>', 'the private key from ops ledger keygen')
    .requiredOption('--out <folder>', 'an existing folder for the month and its archive')
    .option(
      '--wait <seconds>',
      'how long the balance view may take to catch up with the books',
      wholeNumber,
      60,
    )
    .option('--replace', 'replace a different month that an earlier run signed; keep a copy of it first')
    .addHelpText(
      'after',
      `
Safe to repeat: what is closed stays closed, and the same month and key give the same seals. The reconciliation covers
the log up to now, so a later run may sign a different month. It does not replace the earlier one without --replace.

Example:
  ops ledger month --period 2026-10 --all --key seal-private.pem --out closings`,
    )
    .action(async ({ period, key, out, wait, replace = false }: Options, command: Command) => {
      const privateKey = onFile(key, () => readFileSync(key, 'utf8'));
      const result = await withSession(({ commands, by, config }) => {
        return commands.execute(
          new CloseMonth(
            period,
            privateKey,
            GRACE_MS,
            wait * 1_000,
            config.LEDGER_ACCOUNTS,
            by,
            reportStep(),
          ),
        );
      });
      if (result.outcome === 'not_over')
        throw new OpsError(`The month ${period} is not over. Nothing was closed.`);
      if (result.outcome === 'not_an_ed25519_key') {
        throw new OpsError(`${key} contains no Ed25519 private key: ops ledger keygen creates one.`);
      }
      if (result.outcome === 'not_right') {
        const { problems, differences, view } = result;
        const found = { ok: false, period, problems, differences, view };
        const text =
          view === null
            ? describeProblems(period, problems, differences.length)
            : describeView(period, view, differences);
        print(command, found, text);
        process.exitCode = 1;
        return;
      }
      const { manifest, closedNow, setAside, notes, files } = result;
      const packed = await packMonth(period, files);
      const written = onFile(out, () => writeMonth(out, period, files, packed, replace));
      print(
        command,
        { ok: true, ...written, closedNow, ...manifest, setAside, notes },
        describe(result, written.archive),
      );
    });
};

/** A line for each step and each tenth of it, on standard error. */
const reportStep = () => {
  let last = '';
  return (step: MonthStep, done: number, total: number): void => {
    const said = `${step}: ${total === 0 ? 100 : Math.floor((done / total) * 10) * 10} %`;
    if (said !== last && process.stderr.isTTY) tell(said);
    last = said;
  };
};

const describeProblems = (period: string, problems: readonly MonthProblem[], differences: number): string =>
  [
    `${period} is not sealed: ${problems.length} books are not right, reconcile found ${differences} differences.`,
    ...(problems.length === 0
      ? []
      : [
          table(
            ['workspace', 'revision', 'problem'],
            problems.map(({ workspaceId, revision, message }) => [
              workspaceId,
              revision === null ? '' : String(revision),
              message,
            ]),
          ),
        ]),
    ...(differences === 0 ? [] : ['ops ledger reconcile --all lists the differences.']),
  ].join('\n');

/** The books themselves are right. A row that is missing names the command that makes it again. */
const describeView = (period: string, view: string, differences: readonly LedgerDifference[]): string => {
  const missing = differences.filter(({ kind }) => kind === 'balance_missing');
  return [
    `${period} is not sealed: the books are right, but the view ${view} is behind ${differences.length - missing.length} of them and lacks ${missing.length}.`,
    'ops projections status shows how far it is, and ops doctor why. Then repeat this command, with a longer --wait if need be.',
    ...missing.slice(0, MOST_SHOWN).map(({ workspaceId, message }) => `${workspaceId}: ${message}`),
  ].join('\n');
};

type Sealed = Extract<CloseMonthResult, { outcome: 'sealed' }>;

const describe = ({ manifest, sums, setAside, notes }: Sealed, archive: string): string => {
  const { opening, debit, credit, closing, money } = sums;
  return [
    `Sealed ${manifest.books} books of ${manifest.period}; Merkle root ${manifest.merkleRoot}`,
    ...(manifest.books === 0 ? ['Every book was opened after this month.'] : []),
    '',
    accountTable(opening, (account) => ({ debit: debit[account], credit: credit[account] }), closing),
    '',
    moneyTable(money),
    '',
    ...setAside.map(passedOver),
    ...notes.map(({ workspaceId, revision, message }) => `${workspaceId} revision ${revision}: ${message}`),
    `Archive: ${archive}`,
  ].join('\n');
};
