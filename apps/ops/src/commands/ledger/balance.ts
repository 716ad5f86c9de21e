import type { Command } from 'commander';
import { bookStream, GetBalance, GetBalanceAsOf, type AsOf } from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { parseInstant } from '../options.js';
import { modeOption } from './options.js';

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
    .option('--as-of <instant|revision>', 'at this time or revision of the past, instead of now', parseAsOf)
    .addOption(modeOption())
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger balance --workspace ws_… --json\n  ops ledger balance --workspace ws_… --as-of 2026-04-30T12:00:00Z\n  ops ledger balance --workspace ws_… --mode test',
    )
    .action(async ({ workspace, asOf, mode }: Options, command: Command) => {
      const livemode = mode === 'live';
      const balance = await withSession(async ({ queries, store, time, requireWorkspace }) => {
        await requireWorkspace(workspace);
        if (asOf) await requirePast({ store, time }, bookStream(workspace, livemode), asOf);
        return queries.execute(
          asOf ? new GetBalanceAsOf(workspace, asOf, livemode) : new GetBalance(workspace, livemode),
        );
      });
      if (!balance) {
        throw new OpsError(
          `The workspace ${workspace} has no ${mode === 'test' ? 'test' : 'credit'} book${asOf ? ' at that time' : ''}.`,
        );
      }
      print(command, balance, table(['account', 'credits'], Object.entries(balance)));
    });
};

/** @throws OpsError for a revision that the book does not have yet, or an instant that is yet to come */
export const requirePast = async (
  { store, time }: { readonly store: Pick<EventStore, 'read'>; readonly time: Pick<TrustedTime, 'now'> },
  book: string,
  asOf: AsOf,
): Promise<void> => {
  if ('instant' in asOf) {
    const now = await time.now();
    if (asOf.instant > now)
      throw new OpsError(
        `--as-of must not be in the future: it is ${new Date(now).toISOString()}, and what comes then is not known.`,
      );
    return;
  }
  for await (const { revision } of store.read(book, { direction: 'backwards', limit: 1 }))
    if (asOf.revision > revision)
      throw new OpsError(
        `--as-of must be a revision from 0 to ${revision}, the last of this book, or a time such as 2026-04-30.`,
      );
};

function parseAsOf(text: string): AsOf {
  return /^\d{1,19}$/.test(text) ? { revision: BigInt(text) } : { instant: parseInstant(text) };
}
