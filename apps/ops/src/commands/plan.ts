import { Option, type Command } from 'commander';
import {
  CancelSubscription,
  GetSubscription,
  PLANS,
  SubscribeToPlan,
  type Effective,
  type PlanId,
  type SubscribeResult,
  type SubscriptionSummary,
} from '#billing/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession } from '../session.js';
import { noBook } from './no-book.js';
import { someText } from './options.js';

/** Plans as the operator types them: `access-local` for `access_local`. */
const PLAN_NAMES = Object.keys(PLANS).map((plan) => plan.replaceAll('_', '-'));
const planOf = (name: string): PlanId => name.replaceAll('-', '_') as PlanId;

/** When a change or an end counts. */
const whenOption = (): Option =>
  new Option('--when <time>', 'with the next monthly grant, or at once')
    .choices(['period-end', 'now'])
    .default('period-end');
const effective = (when: string): Effective => when.replace('-', '_') as Effective;

export const addPlanCommands = (plan: Command): void => {
  for (const add of [addSubscribe, addChange, addCancel, addShow]) add(plan);
};

interface PlanOptions {
  readonly workspace: string;
  readonly plan: string;
  readonly approval?: string;
  readonly when?: string;
}

const addSubscribe = (plan: Command): void => {
  plan
    .command('subscribe')
    .description('start a subscription and grant its first month, or change the plan from next month')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--plan <plan>', 'the plan').choices(PLAN_NAMES).makeOptionMandatory())
    .option('--approval <reference>', 'approval reference; required for access-local')
    .addHelpText('after', '\nExample:\n  ops plan subscribe --workspace ws_… --plan studio')
    .action((options: PlanOptions, command: Command) => subscribe(command, options, false));
};

const addChange = (plan: Command): void => {
  plan
    .command('change')
    .description('change the plan of a subscription, or continue one that was cancelled and has not ended')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--plan <plan>', 'the plan').choices(PLAN_NAMES).makeOptionMandatory())
    .addOption(whenOption())
    .option('--approval <reference>', 'approval reference; required for access-local')
    .addHelpText(
      'after',
      `
With --when now, the new plan grants its first month at once and is invoiced from today. Credits of the present month
stay until they expire. The last change counts.

Examples:
  ops plan change --workspace ws_… --plan pro
  ops plan change --workspace ws_… --plan pro --when now`,
    )
    .action((options: PlanOptions, command: Command) => subscribe(command, options, true));
};

const subscribe = async (
  command: Command,
  { workspace, plan, approval, when = 'period-end' }: PlanOptions,
  onlyChange: boolean,
): Promise<void> => {
  const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
    await requireWorkspace(workspace);
    return commands.execute(
      new SubscribeToPlan(workspace, planOf(plan), approval ?? null, by(), effective(when), onlyChange),
    );
  }, HARMLESS_TO_REPEAT);
  if (answer.outcome === 'approval_required')
    throw new OpsError(`The plan ${plan} requires an approval reference: add --approval.`);
  if (answer.outcome === 'not_subscribed')
    throw new OpsError(`Workspace ${workspace} has no subscription: ops plan subscribe starts one.`);
  if (answer.outcome === 'book_not_open') throw noBook(workspace);
  print(command, answer, describeAnswer(answer as Subscribed));
};

type Subscribed = Extract<SubscribeResult, { available: number }>;

const describeAnswer = ({ outcome, available, effectiveAt, subscription }: Subscribed): string => {
  const said = outcome === 'subscribed' ? 'Subscribed' : 'Already subscribed';
  const from = effectiveAt === null ? '' : `, effective ${effectiveAt}`;
  return `${said}${from}; ${available} credits available. ${describe(subscription)}`;
};

/** One sentence: what is granted next, and until when. */
const describe = ({ plan, nextGrantAt, nextPlan, endsAt }: SubscriptionSummary): string => {
  if (endsAt !== null) return `The plan ${plan} ends ${endsAt}.`;
  return nextPlan === null
    ? `The plan ${plan} grants next ${nextGrantAt}.`
    : `The plan ${plan} runs until ${nextGrantAt}, then ${nextPlan}.`;
};

interface CancelOptions {
  readonly workspace: string;
  readonly when: string;
  readonly reference?: string;
}

const addCancel = (plan: Command): void => {
  plan
    .command('cancel')
    .description('end a subscription; credits that it granted stay until they expire')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(whenOption())
    .option('--reference <text>', 'such as the customer’s notice; kept in the ledger', someText)
    .addHelpText(
      'after',
      `
Until it takes effect, ops plan change withdraws it.

Examples:
  ops plan cancel --workspace ws_… --reference TICKET-9
  ops plan cancel --workspace ws_… --when now`,
    )
    .action(async ({ workspace, when, reference }: CancelOptions, command: Command) => {
      const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
        await requireWorkspace(workspace);
        return commands.execute(new CancelSubscription(workspace, by(), effective(when), reference ?? null));
      }, HARMLESS_TO_REPEAT);
      if (answer.outcome === 'book_not_open') throw noBook(workspace);
      if (answer.outcome === 'not_subscribed')
        throw new OpsError(`Workspace ${workspace} has no subscription. Nothing changed.`);
      const { outcome, effectiveAt } = answer as { outcome: string; effectiveAt: string };
      print(
        command,
        answer,
        `${outcome === 'cancelled' ? 'Cancelled' : 'Already cancelled'}, effective ${effectiveAt}`,
      );
    });
};

const addShow = (plan: Command): void => {
  plan
    .command('show')
    .description('the subscription of a workspace: its plan, the next grant, a change or end that is due')
    .requiredOption('--workspace <id>', 'the workspace')
    .addHelpText('after', '\nExample:\n  ops plan show --workspace ws_…')
    .action(async ({ workspace }: { workspace: string }, command: Command) => {
      const subscription = await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        return queries.execute(new GetSubscription(workspace));
      });
      print(command, { subscription }, subscription ? describe(subscription) : 'There is no subscription.');
    });
};
