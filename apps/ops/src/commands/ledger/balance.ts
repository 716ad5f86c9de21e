import type { Command } from 'commander';
import { GetBalance, GetBalanceAsOf, type AsOf } from '@app/billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { parseInstant } from './options.js';

export const addBalance = (ledger: Command): void => {
  ledger
    .command('balance')
    .description('balance of a workspace, computed from its ledger')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--as-of <instant|revision>', 'at this time instead of now', parseAsOf)
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger balance --workspace ws_… --json\n  ops ledger balance --workspace ws_… --as-of 2026-04-30T12:00:00Z',
    )
    .action(async ({ workspace, asOf }: { workspace: string; asOf?: AsOf }, command: Command) => {
      const balance = await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        return asOf
          ? queries.execute(new GetBalanceAsOf(workspace, asOf))
          : queries.execute(new GetBalance(workspace));
      });
      if (!balance) {
        throw new OpsError(`The workspace ${workspace} has no credit book${asOf ? ' at that time' : ''}.`);
      }
      print(command, balance, table(['account', 'credits'], Object.entries(balance)));
    });
};

function parseAsOf(text: string): AsOf {
  return /^\d{1,19}$/.test(text) ? { revision: BigInt(text) } : { instant: parseInstant(text) };
}
