import { Option, type Command } from 'commander';
import {
  GetLedger,
  GetMonthlyStatement,
  TypesetMonthlyStatement,
  type LedgerEntry,
  type Money,
  type MonthlyStatement,
  type Accounts,
} from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { GetWorkspace } from '#workspaces/contracts/index.js';
import { replaceFile } from '../../new-file.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { movement } from './movement.js';
import { modeOption, parsePeriod } from './options.js';

interface Options {
  readonly workspace: string;
  readonly period?: string;
  readonly format: 'text' | 'pdf';
  readonly out?: string;
  readonly mode: Mode;
}

export const addStatement = (ledger: Command): void => {
  ledger
    .command('statement')
    .description(
      'every movement of a workspace, oldest first; for one month with opening, closing and grants',
    )
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--period <yyyy-mm>', 'one month (UTC)', parsePeriod)
    .addOption(
      new Option('--format <format>', 'output format; pdf includes a chart of the balance')
        .choices(['text', 'pdf'])
        .default('text'),
    )
    .option('--out <file>', 'the file to write (pdf only)')
    .addOption(modeOption())
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger statement --workspace ws_… --period 2026-04\n  ops ledger statement --workspace ws_… --period 2026-04 --format pdf --out april.pdf',
    )
    .action(async (options: Options, command: Command) => {
      const { workspace, period, format, out, mode } = options;
      const livemode = mode === 'live';
      if (format === 'pdf' && !livemode)
        throw new OpsError('A test book has no PDF statement: leave out --format.');
      if (format === 'pdf' && (period === undefined || out === undefined)) {
        throw new OpsError(
          'A PDF covers one month and goes to a file: add --period <yyyy-mm> and --out <file>.',
        );
      }
      await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        if (format === 'pdf') {
          const name = (await queries.execute(new GetWorkspace(workspace)))?.name ?? null;
          const pdf = await queries.execute(new TypesetMonthlyStatement(workspace, period!, name));
          if (!pdf) throw new OpsError(`There are no records of ${workspace} in ${period}.`);
          await replaceFile(out!, async (write) => write(pdf));
          print(command, { out, bytes: pdf.byteLength }, `Wrote ${pdf.byteLength} bytes to ${out}`);
          return;
        }
        if (period === undefined) {
          const entries = await queries.execute(new GetLedger(workspace, livemode));
          print(command, { workspaceId: workspace, entries }, movements(entries));
          return;
        }
        const statement = await queries.execute(new GetMonthlyStatement(workspace, period, livemode));
        if (!statement) throw new OpsError(`There are no records of ${workspace} in ${period}.`);
        print(command, statement, describe(statement));
      });
    });
};

const describe = ({ workspaceId, period, closed, ...statement }: MonthlyStatement): string => {
  const { opening, totals, closing, entries, grants, money, notes } = statement;
  return [
    `${workspaceId}, ${period} (${closed ? 'closed' : 'open'})`,
    '',
    accountTable(opening, (account) => totals[account], closing),
    '',
    ...(money ? [moneyTable(money), ''] : []),
    movements(entries),
    '',
    table(
      [
        'grant',
        'price',
        'opening',
        'granted',
        'reserved',
        'released',
        'consumed',
        'expired',
        'removed',
        'closing',
      ],
      grants.map((grant) => [
        grant.grantId,
        grant.priceCents,
        grant.opening,
        grant.granted,
        grant.reserved,
        grant.released,
        grant.consumed,
        grant.expired,
        grant.removed,
        grant.closing,
      ]),
    ),
    ...notes.map((note) => `Note: ${note}.`),
  ].join('\n');
};

/** What each account held, lost and gained. */
export const accountTable = (
  opening: Accounts,
  moved: (account: keyof Accounts) => { readonly debit: number; readonly credit: number },
  closing: Accounts,
): string =>
  table(
    ['account', 'opening', 'out', 'in', 'closing'],
    (Object.keys(opening) as (keyof Accounts)[]).map((account) => [
      account,
      opening[account],
      moved(account).debit,
      moved(account).credit,
      closing[account],
    ]),
  );

/** Deferred value over the month, in whole minor units. */
export const moneyTable = (money: Money): string =>
  table(
    [`${money.currency}, minor units`, 'amount'],
    [
      ['deferred opening', money.opening],
      ['sales', money.sales],
      ['earned', -money.earned],
      ['breakage', -money.breakage],
      ['corrections', -money.corrections],
      ['refunds', -money.refunds],
      ['deferred closing', money.closing],
    ],
  );

const movements = (entries: readonly LedgerEntry[]): string =>
  table(
    ['revision', 'at', 'event', 'movement', 'available', 'held', 'reading', 'reference', 'actor'],
    entries.map((entry) => [
      String(entry.revision),
      entry.occurredAt,
      entry.type,
      entry.unreadable ?? movement(entry.postings),
      entry.availableAfter,
      entry.heldAfter,
      entry.readingId ?? '',
      entry.reference ?? '',
      entry.actor,
    ]),
  );
