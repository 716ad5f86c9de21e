import { InvalidArgumentError, Option, type Command } from 'commander';
import { randomUUID } from 'node:crypto';
import {
  AdjustCredits,
  GetLedger,
  PACKS,
  PLANS,
  PurchasePack,
  SubscribeToPlan,
  type PackId,
  type PlanId,
} from '@app/billing/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { withSession } from '../session.js';

/** Plans as the operator types them: `access-local` for `access_local`. */
const PLAN_NAMES = Object.keys(PLANS).map((plan) => plan.replaceAll('_', '-'));
const planOf = (name: string): PlanId => name.replaceAll('-', '_') as PlanId;

export const addCreditsCommands = (ops: Command): void => {
  ops
    .command('plan')
    .description('subscriptions')
    .command('subscribe')
    .description('start a subscription and grant its first month, or change the plan from the next month on')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--plan <plan>', 'the plan').choices(PLAN_NAMES).makeOptionMandatory())
    .option('--approval <reference>', 'approval reference; access-local demands one')
    .addHelpText('after', '\nExample:\n  ops plan subscribe --workspace ws_… --plan studio')
    .action(async (options: { workspace: string; plan: string; approval?: string }, command: Command) => {
      const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
        await requireWorkspace(options.workspace);
        return commands.execute(
          new SubscribeToPlan(options.workspace, planOf(options.plan), options.approval ?? null, by()),
        );
      });
      if (answer.outcome === 'approval_required') {
        throw new OpsError(`The plan ${options.plan} needs an approval reference: add --approval.`);
      }
      print(
        command,
        answer,
        `${answer.outcome === 'subscribed' ? 'Subscribed' : 'Subscribed before'}; ${answer.available} credits available`,
      );
    });
  ops
    .command('pack')
    .description('one-off credit packs')
    .command('add')
    .description('add a pack, once per order reference')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--pack <pack>', 'the pack').choices(Object.keys(PACKS)).makeOptionMandatory())
    .requiredOption('--order <reference>', 'the order it was paid by')
    .addHelpText('after', '\nExample:\n  ops pack add --workspace ws_… --pack sprint --order INV-2026-0042')
    .action(async (options: { workspace: string; pack: PackId; order: string }, command: Command) => {
      const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
        await requireWorkspace(options.workspace);
        return commands.execute(new PurchasePack(options.workspace, options.pack, options.order, by()));
      });
      print(
        command,
        answer,
        `${answer.outcome === 'purchased' ? 'Added' : 'Added before'}; ${answer.available} credits available`,
      );
    });
  ops
    .command('credits')
    .description('corrections')
    .command('adjust')
    .description('correct a book by a signed number of credits')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--amount <credits>', 'whole number, negative to take away', parseAmount)
    .requiredOption('--reason <text>', 'why; kept in the ledger for ever')
    .option('--approved-by <name>', 'who approved it; default: you')
    .option('--reverses <event>', 'the id of the event of this book that it corrects')
    .addHelpText(
      'after',
      '\nExample:\n  ops credits adjust --workspace ws_… --amount -20 --reason "goodwill reversed" --reverses bb8bebe9-…',
    )
    .action(
      async (
        options: {
          workspace: string;
          amount: number;
          reason: string;
          approvedBy?: string;
          reverses?: string;
        },
        command: Command,
      ) => {
        const { reverses } = options;
        const answer = await withSession(async ({ commands, queries, requireWorkspace, by, actor }) => {
          await requireWorkspace(options.workspace);
          if (reverses !== undefined) {
            const entries = await queries.execute(new GetLedger(options.workspace));
            if (!entries.some(({ eventId }) => eventId === reverses)) {
              throw new OpsError(`There is no event ${reverses} in the book: nothing was changed.`);
            }
          }
          return commands.execute(
            new AdjustCredits(
              options.workspace,
              options.amount,
              options.reason,
              options.approvedBy ?? actor,
              randomUUID(),
              by(),
              reverses ?? null,
            ),
          );
        });
        if (answer.outcome === 'insufficient') {
          throw new OpsError(`Only ${answer.available} credits are available: nothing was changed.`);
        }
        print(command, { available: answer.available }, `Adjusted; ${answer.available} credits available`);
      },
    );
};

function parseAmount(text: string): number {
  const amount = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(amount) || amount === 0) {
    throw new InvalidArgumentError('must be a whole number other than 0');
  }
  return amount;
}
