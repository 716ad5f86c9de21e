import { InvalidArgumentError, Option, type Command } from 'commander';
import { randomUUID } from 'node:crypto';
import {
  CancelSubscription,
  FindReversible,
  GetSubscription,
  PACKS,
  PLANS,
  PurchasePack,
  SubscribeToPlan,
  type CorrectionEntry,
  type Effective,
  type PackId,
  type PlanId,
  type SubscribeResult,
  type SubscriptionSummary,
} from '#billing/contracts/index.js';
import { instant } from '#event-sourcing/core/clock.js';
import { OpsError, print, tell } from '../output.js';
import { HARMLESS_TO_REPEAT, withWorkspace, type Session } from '../session.js';
import { entryOf, KEY_OPTION, printProposal, propose } from './corrections.js';
import { example, parseInstant, someText } from './options.js';

const noBook = (workspaceId: string): OpsError =>
  new OpsError(`Workspace ${workspaceId} has no credit book: nothing was changed.`);

/** Plans as the operator types them: `access-local` for `access_local`. */
const PLAN_NAMES = Object.keys(PLANS).map((plan) => plan.replaceAll('_', '-'));
const planOf = (name: string): PlanId => name.replaceAll('-', '_') as PlanId;

/** When a change or an end counts. */
const whenOption = (): Option =>
  new Option('--when <time>', 'with the next monthly grant, or at once')
    .choices(['period-end', 'now'])
    .default('period-end');
const effective = (when: string): Effective => when.replace('-', '_') as Effective;

interface PlanOptions {
  readonly workspace: string;
  readonly plan: string;
  readonly approval?: string;
  readonly when?: string;
}

/** The options of a subscription's start and of its change. */
const addPlan = (group: Command, name: string, description: string): Command =>
  group
    .command(name)
    .description(description)
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--plan <plan>', 'the plan').choices(PLAN_NAMES).makeOptionMandatory())
    .option('--approval <reference>', 'approval reference; required for access-local');

const addPlanCommands = (plan: Command): void => {
  addPlan(
    plan,
    'subscribe',
    'start a subscription and grant its first month, or change the plan from next month',
  )
    .addHelpText('after', example('plan subscribe --workspace ws_… --plan studio'))
    .action((options: PlanOptions, command: Command) => subscribe(command, options, false));
  addPlan(plan, 'change', 'change the plan, or continue a subscription that was cancelled and has not ended')
    .addOption(whenOption())
    .addHelpText('after', example('plan change --workspace ws_… --plan pro --when now'))
    .action((options: PlanOptions, command: Command) => subscribe(command, options, true));
  plan
    .command('cancel')
    .description('end a subscription; credits that it granted stay until they expire')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(whenOption())
    .option('--reference <text>', 'such as the customer’s notice; kept in the ledger', someText)
    .addHelpText('after', example('plan cancel --workspace ws_… --reference TICKET-9'))
    .action(async (options: { workspace: string; when: string; reference?: string }, command: Command) => {
      const { workspace, when, reference = null } = options;
      const answer = await withWorkspace(
        workspace,
        ({ commands, by }) =>
          commands.execute(new CancelSubscription(workspace, by(), effective(when), reference)),
        HARMLESS_TO_REPEAT,
      );
      if (answer.outcome === 'book_not_open') throw noBook(workspace);
      if (answer.outcome === 'not_subscribed')
        throw new OpsError(`Workspace ${workspace} has no subscription. Nothing changed.`);
      const { outcome, effectiveAt } = answer as { outcome: string; effectiveAt: string };
      const said = outcome === 'cancelled' ? 'Cancelled' : 'Already cancelled';
      print(command, answer, `${said}, effective ${effectiveAt}`);
    });

  plan
    .command('show')
    .description('the subscription of a workspace: its plan, the next grant, a change or end that is due')
    .requiredOption('--workspace <id>', 'the workspace')
    .addHelpText('after', example('plan show --workspace ws_…'))
    .action(async ({ workspace }: { workspace: string }, command: Command) => {
      const subscription = await withWorkspace(workspace, ({ queries }) =>
        queries.execute(new GetSubscription(workspace)),
      );
      print(command, { subscription }, subscription ? describe(subscription) : 'There is no subscription.');
    });
};

const subscribe = async (
  command: Command,
  { workspace, plan, approval, when = 'period-end' }: PlanOptions,
  onlyChange: boolean,
): Promise<void> => {
  const answer = await withWorkspace(
    workspace,
    ({ commands, by }) =>
      commands.execute(
        new SubscribeToPlan(workspace, planOf(plan), approval ?? null, by(), effective(when), onlyChange),
      ),
    HARMLESS_TO_REPEAT,
  );
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

interface OrderLine {
  readonly workspace: string;
  readonly pack: PackId;
  readonly order: string;
}

/** The options of a pack's purchase and of its refund. */
const addOrderLine = (group: Command, name: string, description: string): Command =>
  group
    .command(name)
    .description(description)
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--pack <pack>', 'the pack').choices(Object.keys(PACKS)).makeOptionMandatory())
    .requiredOption('--order <reference>', 'the order that paid for it, and its line: INV-7/2', someText);

const addPackCommands = (pack: Command): void => {
  addOrderLine(pack, 'add', 'add a pack, once per order and pack in the whole installation')
    .addHelpText('after', example('pack add --workspace ws_… --pack sprint --order INV-2026-42/1'))
    .action(async (options: OrderLine, command: Command) => {
      const { workspace, pack: packId, order } = options;
      const answer = await withWorkspace(
        workspace,
        ({ commands, by }) => commands.execute(new PurchasePack(workspace, packId, order, by())),
        HARMLESS_TO_REPEAT,
      );
      if (answer.outcome === 'book_not_open') throw noBook(workspace);
      if (answer.outcome === 'other_workspace')
        throw new OpsError(
          `Workspace ${answer.workspaceId} has the pack ${packId} of order ${order}. Nothing was added.`,
        );
      const said = answer.outcome === 'purchased' ? 'Added' : 'Already added';
      print(command, answer, `${said}; ${answer.available} credits available`);
    });
  addOrderLine(
    pack,
    'refund',
    'propose to take back the unused credits of a pack; another operator approves it',
  )
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option(...KEY_OPTION)
    .addHelpText('after', example('pack refund --workspace ws_… --pack flex --order INV-7 --reason INC-4'))
    .action(async (options: OrderLine & { key?: string; reason: string }, command: Command) => {
      const { workspace, pack: packId, order, reason } = options;
      const refund = async (session: Session) => {
        const asked = new FindReversible(workspace, { orderRef: order, pack: packId });
        const found = await session.queries.execute(asked);
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
        const content = { kind: 'pack_refund', reason, reference: order, entries } as const;
        return propose(session, `${workspace}:${packId}`, content, options.key);
      };
      printProposal(command, await withWorkspace(workspace, refund, HARMLESS_TO_REPEAT));
    });
};

/** Corrections of a balance. Nobody books one alone: these commands propose, and another operator approves. */
const addCreditsCommands = (credits: Command): void => {
  credits
    .command('adjust')
    .description('propose to change a balance by a signed number of credits; another operator approves it')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--amount <credits>', 'whole number; negative removes credits', parseAmount)
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option('--reverses <event>', 'the id of the event in this book that the adjustment corrects')
    .option(...REFERENCE)
    .option(...KEY_OPTION)
    .addHelpText('after', example('credits adjust --workspace ws_… --amount 20 --reason INC-42'))
    .action((options: Options & { reverses?: string }, command: Command) =>
      proposeEntry(command, options, async () => ({
        kind: 'adjustment',
        amount: options.amount!,
        reversesEventId: options.reverses ?? null,
      })),
    );

  credits
    .command('reverse')
    .description('propose to reverse an entry, all of it or a part; another operator approves it')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--event <id>', 'the entry: ops ledger statement --json shows ids')
    .option('--amount <credits>', 'a part of it, signed; default: all that is not reversed yet', parseAmount)
    .option('--expires <instant>', 'when credits that come back expire; default: never', parseInstant)
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option(...REFERENCE)
    .option(...KEY_OPTION)
    .addHelpText('after', example('credits reverse --workspace ws_… --event bb8bebe9-… --reason INC-42'))
    .action((options: Options & { event: string; expires?: number }, command: Command) =>
      proposeEntry(command, options, async ({ queries }) => {
        const { workspace, event: eventId } = options;
        const found = await queries.execute(new FindReversible(workspace, { eventId }));
        if (!found) throw new OpsError(`The book of ${workspace} has no event ${eventId}. Nothing changed.`);
        const amount = options.amount ?? found.reversible - found.reversed;
        if (amount === 0)
          throw new OpsError(`The event ${eventId} (${found.type}) has nothing left to reverse.`);
        const grantId = amount < 0 ? (found.grant?.grantId ?? null) : null;
        if (options.expires !== undefined && amount < 0)
          throw new OpsError('--expires is for credits that come back. Nothing changed.');
        const expiresAt = options.expires === undefined ? null : instant(options.expires);
        return { kind: 'reversal', amount, reversesEventId: eventId, grantId, expiresAt };
      }),
    );
};

interface Options {
  readonly key?: string;
  readonly workspace: string;
  readonly amount?: number;
  readonly reason: string;
  readonly reference?: string;
}

const REFERENCE = [
  '--reference <text>',
  'such as INC-42: identifies the correction in its workspace; default: a new one, printed before it is recorded',
  someText,
] as const;

type Entry = Pick<CorrectionEntry, 'amount'> &
  Partial<CorrectionEntry> & { readonly kind: 'adjustment' | 'reversal' };

const proposeEntry = async (
  command: Command,
  options: Options,
  find: (session: Session) => Promise<Entry>,
): Promise<void> => {
  const { workspace, reason, reference = `ops-${randomUUID()}` } = options;
  const work = async (session: Session) => {
    const { kind, ...entry } = await find(session);
    // Printed before it is recorded: if the connection breaks, the operator needs it to repeat the command.
    if (options.reference === undefined) tell(`Reference: ${reference}`);
    const entries = [entryOf({ workspaceId: workspace, reason, reference, ...entry })];
    return propose(session, workspace, { kind, reason, reference, entries }, options.key);
  };
  const whenUnknown = `repeat the command with --reference ${reference} to propose it exactly once`;
  printProposal(command, await withWorkspace(workspace, work, whenUnknown));
};

function parseAmount(text: string): number {
  const amount = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(amount) || amount === 0) {
    throw new InvalidArgumentError('must be a whole number other than 0');
  }
  return amount;
}

/** By the names of the commands. */
export const commands = { plan: addPlanCommands, pack: addPackCommands, credits: addCreditsCommands };
