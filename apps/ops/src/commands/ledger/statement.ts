import type { Command } from 'commander';
import {
  GetLedger,
  GetMonthlyStatement,
  type LedgerEntry,
  type MonthlyStatement,
} from '@app/billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { movement } from './movement.js';
import { parsePeriod } from './options.js';

export const addStatement = (ledger: Command): void => {
  ledger
    .command('statement')
    .description('every movement of a workspace, oldest first; of one month with opening, closing and grants')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--period <yyyy-mm>', 'one month (UTC)', parsePeriod)
    .addHelpText('after', '\nExample:\n  ops ledger statement --workspace ws_… --period 2026-04')
    .action(async (options: { workspace: string; period?: string }, command: Command) => {
      const { workspace, period } = options;
      await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        if (period === undefined) {
          const entries = await queries.execute(new GetLedger(workspace));
          print(command, { workspaceId: workspace, entries }, movements(entries));
          return;
        }
        const statement = await queries.execute(new GetMonthlyStatement(workspace, period));
        if (!statement) throw new OpsError(`Nothing is recorded of ${workspace} in ${period}.`);
        print(command, statement, describe(statement));
      });
    });
};

const describe = ({ workspaceId, period, closed, ...statement }: MonthlyStatement): string => {
  const { opening, totals, closing, entries, grants } = statement;
  return [
    `${workspaceId}, ${period} (${closed ? 'closed' : 'open'})`,
    '',
    table(
      ['account', 'opening', 'out', 'in', 'closing'],
      (Object.keys(opening) as (keyof typeof opening)[]).map((account) => [
        account,
        opening[account],
        totals[account].debit,
        totals[account].credit,
        closing[account],
      ]),
    ),
    '',
    movements(entries),
    '',
    table(
      ['grant', 'opening', 'granted', 'reserved', 'released', 'expired', 'removed', 'closing'],
      grants.map((grant) => [
        grant.grantId,
        grant.opening,
        grant.granted,
        grant.reserved,
        grant.released,
        grant.expired,
        grant.removed,
        grant.closing,
      ]),
    ),
  ].join('\n');
};

const movements = (entries: readonly LedgerEntry[]): string =>
  table(
    ['revision', 'at', 'event', 'movement', 'available', 'held', 'reading'],
    entries.map((entry) => [
      String(entry.revision),
      entry.occurredAt,
      entry.type,
      movement(entry.postings),
      entry.availableAfter,
      entry.heldAfter,
      entry.readingId ?? '',
    ]),
  );
