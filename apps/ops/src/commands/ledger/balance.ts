import type { Command } from 'commander';
import {
  GetBalance,
  GetBalanceAsOf,
  GetTestBalance,
  type AsOf,
  type Balance,
  type TestBalance,
} from '@app/billing/contracts/index.js';
import type { Mode } from '@app/event-sourcing/core/mode.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { modeOption, parseInstant } from './options.js';

interface Options {
  readonly workspace: string;
  readonly asOf?: AsOf;
  readonly mode: Mode;
}

export const addBalance = (ledger: Command): void => {
  ledger
    .command('balance')
    .description('balance of a workspace, computed from its ledger')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--as-of <instant|revision>', 'at this time instead of now', parseAsOf)
    .addOption(modeOption())
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger balance --workspace ws_… --json\n  ops ledger balance --workspace ws_… --as-of 2026-04-30T12:00:00Z\n  ops ledger balance --workspace ws_… --mode test',
    )
    .action(async ({ workspace, asOf, mode }: Options, command: Command) => {
      const balance = await withSession<Balance | TestBalance | null>(
        async ({ queries, requireWorkspace }) => {
          await requireWorkspace(workspace);
          if (mode === 'test') return queries.execute(new GetTestBalance(workspace, asOf ?? null));
          return asOf
            ? queries.execute(new GetBalanceAsOf(workspace, asOf))
            : queries.execute(new GetBalance(workspace));
        },
      );
      if (!balance) {
        throw new OpsError(
          `The workspace ${workspace} has no ${mode === 'test' ? 'test' : 'credit'} book${asOf ? ' at that time' : ''}.`,
        );
      }
      print(command, balance, table(['account', 'credits'], Object.entries(balance)));
    });
};

function parseAsOf(text: string): AsOf {
  return /^\d{1,19}$/.test(text) ? { revision: BigInt(text) } : { instant: parseInstant(text) };
}
