import { Option, type Command } from 'commander';
import { FindReversible, PACKS, PurchasePack, type PackId } from '#billing/contracts/index.js';
import { entryOf, KEY_OPTION, printProposal, propose } from './corrections.js';
import { OpsError } from '../ops-error.js';
import { print, tell } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession } from '../session.js';
import { noBook } from './no-book.js';
import { someText } from './options.js';

interface OrderLine {
  readonly workspace: string;
  readonly pack: PackId;
  readonly order: string;
}

export const addPackCommands = (pack: Command): void => {
  addAdd(pack);
  addRefund(pack);
};

const packOption = (): Option =>
  new Option('--pack <pack>', 'the pack').choices(Object.keys(PACKS)).makeOptionMandatory();

const addAdd = (pack: Command): void => {
  pack
    .command('add')
    .description('add a pack, once per order and pack in the whole installation')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(packOption())
    .requiredOption('--order <reference>', 'the order that paid for it', someText)
    .addHelpText(
      'after',
      `
An order may have several packs. For the same pack twice, name the lines: INV-2026-0042/1, INV-2026-0042/2.

Example:
  ops pack add --workspace ws_… --pack sprint --order INV-2026-0042`,
    )
    .action(async (options: OrderLine, command: Command) => {
      const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
        await requireWorkspace(options.workspace);
        return commands.execute(new PurchasePack(options.workspace, options.pack, options.order, by()));
      }, HARMLESS_TO_REPEAT);
      if (answer.outcome === 'book_not_open') throw noBook(options.workspace);
      if (answer.outcome === 'other_workspace')
        throw new OpsError(
          `Workspace ${answer.workspaceId} has the pack ${options.pack} of order ${options.order}. Nothing was added.`,
        );
      print(
        command,
        answer,
        `${answer.outcome === 'purchased' ? 'Added' : 'Already added'}; ${answer.available} credits available`,
      );
    });
};

const addRefund = (pack: Command): void => {
  pack
    .command('refund')
    .description('propose to take back the unused credits of a pack, once; another operator approves it')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(packOption())
    .requiredOption('--order <reference>', 'the order that paid for it', someText)
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option(...KEY_OPTION)
    .addHelpText(
      'after',
      `
Used credits stay used, and held ones stay held: their value is earned, not refunded. The answer says how many dollars
are to be paid back. The order is the reference.

Example:
  ops pack refund --workspace ws_… --pack sprint --order INV-2026-0042 --reason "returned within 14 days"`,
    )
    .action(async (options: OrderLine & { key?: string; reason: string }, command: Command) => {
      const { workspace, pack: packId, order, reason } = options;
      const proposal = await withSession(async (session) => {
        await session.requireWorkspace(workspace);
        const found = await session.queries.execute(
          new FindReversible(workspace, { orderRef: order, pack: packId }),
        );
        if (!found?.grant)
          throw new OpsError(`The book of ${workspace} has no pack ${packId} of order ${order}.`);
        const { grantId, unused, held, credits } = found.grant;
        if (found.reversed !== 0)
          throw new OpsError(
            `Corrections have taken back ${-found.reversed} of its ${credits} credits already.`,
          );
        if (unused === 0)
          throw new OpsError(
            `All ${credits} credits of the pack are used or held (${held}). Nothing to refund.`,
          );
        tell(`${unused} of ${credits} credits are unused, ${held} held, ${credits - unused - held} used.`);
        const entry = { workspaceId: workspace, amount: -unused, reason, reference: order };
        const entries = [entryOf({ ...entry, grantId, reversesEventId: found.eventId })];
        const content = { scope: `${workspace}:${packId}`, reason, reference: order, entries };
        return propose(session, 'pack_refund', content, options.key);
      }, HARMLESS_TO_REPEAT);
      printProposal(command, proposal);
    });
};
