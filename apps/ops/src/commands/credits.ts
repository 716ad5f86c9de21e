import { InvalidArgumentError, Option, type Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { decodeOrShow, isOpaque } from '@app/event-sourcing/core/event-catalogue.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import {
  AdjustCredits,
  GetLedger,
  PACKS,
  PLANS,
  PurchasePack,
  SubscribeToPlan,
  creditsEvents,
  type PackId,
  type PlanId,
} from '@app/billing/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print, tell } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';

const noBook = (workspaceId: string): OpsError =>
  new OpsError(`Workspace ${workspaceId} has no credit book: nothing was changed.`);

/** Plans as the operator types them: `access-local` for `access_local`. */
const PLAN_NAMES = Object.keys(PLANS).map((plan) => plan.replaceAll('_', '-'));
const planOf = (name: string): PlanId => name.replaceAll('-', '_') as PlanId;

export const addPlanCommands = (plan: Command): void => {
  plan
    .command('subscribe')
    .description('start a subscription and grant its first month, or change the plan from next month')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--plan <plan>', 'the plan').choices(PLAN_NAMES).makeOptionMandatory())
    .option('--approval <reference>', 'approval reference; required for access-local')
    .addHelpText('after', '\nExample:\n  ops plan subscribe --workspace ws_… --plan studio')
    .action(async (options: { workspace: string; plan: string; approval?: string }, command: Command) => {
      const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
        await requireWorkspace(options.workspace);
        return commands.execute(
          new SubscribeToPlan(options.workspace, planOf(options.plan), options.approval ?? null, by()),
        );
      }, HARMLESS_TO_REPEAT);
      if (answer.outcome === 'approval_required') {
        throw new OpsError(`The plan ${options.plan} requires an approval reference: add --approval.`);
      }
      if (answer.outcome === 'book_not_open') throw noBook(options.workspace);
      print(
        command,
        answer,
        `${answer.outcome === 'subscribed' ? 'Subscribed' : 'Already subscribed'}; ${answer.available} credits available`,
      );
    });
};

export const addPackCommands = (pack: Command): void => {
  pack
    .command('add')
    .description('add a pack, once per order reference')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--pack <pack>', 'the pack').choices(Object.keys(PACKS)).makeOptionMandatory())
    .requiredOption('--order <reference>', 'the order that paid for it')
    .addHelpText('after', '\nExample:\n  ops pack add --workspace ws_… --pack sprint --order INV-2026-0042')
    .action(async (options: { workspace: string; pack: PackId; order: string }, command: Command) => {
      const answer = await withSession(async ({ commands, requireWorkspace, by }) => {
        await requireWorkspace(options.workspace);
        return commands.execute(new PurchasePack(options.workspace, options.pack, options.order, by()));
      }, HARMLESS_TO_REPEAT);
      if (answer.outcome === 'book_not_open') throw noBook(options.workspace);
      print(
        command,
        answer,
        `${answer.outcome === 'purchased' ? 'Added' : 'Already added'}; ${answer.available} credits available`,
      );
    });
};

export const addCreditsCommands = (credits: Command): void => {
  credits
    .command('adjust')
    .description('adjust a credit book by a signed number of credits')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--amount <credits>', 'whole number; negative removes credits', parseAmount)
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently')
    .option('--approved-by <name>', 'who approved it; default: you')
    .option('--reverses <event>', 'the id of the event in this book that the adjustment corrects')
    .option(
      '--reference <text>',
      'idempotency reference: the same reference books once; default: a new one, printed before booking',
      parseReference,
    )
    .addHelpText(
      'after',
      `
Examples:
  ops credits adjust --workspace ws_… --amount 20 --reason "outage of 3 April" --reference INC-42
  ops credits adjust --workspace ws_… --amount -20 --reason "goodwill reversed" --reverses bb8bebe9-…`,
    )
    .action(async (options: Adjustment, command: Command) => {
      const reference = options.reference ?? `ops-${randomUUID()}`;
      const answer = await withSession(
        (session) => adjust(session, options, reference),
        `repeat the command with --reference ${reference} to book it exactly once`,
      );
      if (answer.outcome === 'insufficient') {
        throw new OpsError(`Only ${answer.available} credits are available. Nothing changed.`);
      }
      if (answer.outcome === 'invalid') throw new OpsError(`${answer.detail}.`);
      if (answer.outcome === 'book_not_open') throw noBook(options.workspace);
      const said = answer.outcome === 'adjusted' ? 'Adjusted' : 'Already adjusted under the same reference';
      const { outcome, available } = answer;
      print(command, { outcome, reference, available }, `${said}; ${available} credits available`);
    });
};

interface Adjustment {
  readonly workspace: string;
  readonly amount: number;
  readonly reason: string;
  readonly approvedBy?: string;
  readonly reverses?: string;
  readonly reference?: string;
}

/** @throws OpsError when the reversed event does not exist, or the reference has another amount */
const adjust = async (session: Session, options: Adjustment, reference: string) => {
  const { commands, queries, requireWorkspace, by, actor } = session;
  const { workspace, amount, reason, approvedBy, reverses } = options;
  await requireWorkspace(workspace);
  if (reverses !== undefined) {
    const entries = await queries.execute(new GetLedger(workspace));
    if (!entries.some(({ eventId }) => eventId === reverses)) {
      throw new OpsError(`The book has no event ${reverses}. Nothing changed.`);
    }
  }
  // Printed before booking: if the connection breaks later, the operator needs it to repeat the command.
  if (options.reference === undefined) tell(`Reference: ${reference}`);
  const adjustmentId = uuid5(workspace, 'adjustment', reference);
  const answer = await commands.execute(
    new AdjustCredits(
      workspace,
      amount,
      reason,
      approvedBy ?? actor,
      adjustmentId,
      by(),
      reverses ?? null,
      reference,
    ),
  );
  if (answer.outcome === 'already_adjusted') {
    const booked = await bookedAmount(session, workspace, adjustmentId);
    if (booked !== amount) {
      throw new OpsError(
        `${booked} credits are already booked under the reference ${reference}. Nothing changed.`,
      );
    }
  }
  return answer;
};

/** The book's state remembers ids only: the amount is in the event. */
const bookedAmount = async (
  { store }: Session,
  workspace: string,
  adjustmentId: string,
): Promise<number | null> => {
  for await (const stored of store.read(streamName(creditsEvents.category, workspace))) {
    const event = decodeOrShow(creditsEvents, stored);
    if (isOpaque(event)) continue;
    const { type, data } = event;
    if (type === 'CreditsAdjusted' && data.adjustmentId === adjustmentId) return data.amount;
  }
  return null;
};

function parseReference(text: string): string {
  const reference = text.trim();
  if (reference === '') throw new InvalidArgumentError('must not be empty');
  return reference;
}

function parseAmount(text: string): number {
  const amount = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(amount) || amount === 0) {
    throw new InvalidArgumentError('must be a whole number other than 0');
  }
  return amount;
}
