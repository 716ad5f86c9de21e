import type { Command } from 'commander';
import {
  PlanDateRepair,
  type CorrectionEntry,
  type DateAdjustment,
  type DateRepair,
} from '@app/billing/contracts/index.js';
import { approvalOf } from '../../corrections/describe.js';
import {
  addProposalOptions,
  propose,
  type Proposal,
  type ProposalOptions,
} from '../../corrections/propose.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../../session.js';
import { someText } from '../options.js';

interface Options extends ProposalOptions {
  readonly workspace: string;
  readonly dryRun?: true;
  readonly propose?: true;
  readonly reference?: string;
}

export const addRepairDates = (ledger: Command): void => {
  addProposalOptions(
    ledger
      .command('repair-dates')
      .description(
        'compensate what a wrong clock did to a book: credits expired too early, months granted too early',
      )
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--dry-run', 'print the plan only; the default')
      .option('--propose', 'propose all entries of the plan as one correction; another operator approves it')
      .option('--reference <text>', 'of the correction, such as INC-42; default: from the plan', someText),
  )
    .addHelpText(
      'after',
      `
After the approval, ops corrections run books the entries of later days on the dates that the plan shows.

Examples:
  ops ledger repair-dates --workspace ws_… --dry-run
  ops ledger repair-dates --workspace ws_… --propose --reference INC-42`,
    )
    .action(async (options: Options, command: Command) => {
      if (options.propose && options.dryRun) throw new OpsError('Choose either --dry-run or --propose.');
      const answer = await withSession((session) => repair(session, options), HARMLESS_TO_REPEAT);
      print(command, answer, describe(answer));
    });
};

interface Answer extends DateRepair {
  readonly proposal: Proposal | null;
}

const repair = async (session: Session, options: Options): Promise<Answer> => {
  const { queries, requireWorkspace } = session;
  const { workspace } = options;
  await requireWorkspace(workspace);
  const plan = await queries.execute(new PlanDateRepair(workspace));
  if (!plan) throw new OpsError(`The workspace ${workspace} has no credit book.`);
  const [first] = plan.adjustments;
  if (!options.propose || !first) return { ...plan, proposal: null };
  const content = {
    scope: workspace,
    reason: 'A clock was wrong',
    reference: options.reference ?? first.reference,
    entries: plan.adjustments.map((one) => entryFor(workspace, one)),
  };
  return { ...plan, proposal: await propose(session, 'date_repair', content, options) };
};

const entryFor = (workspaceId: string, { cause, ...adjustment }: DateAdjustment): CorrectionEntry => ({
  workspaceId,
  reason: cause,
  ...adjustment,
});

const describe = ({ misdated, adjustments, notes, proposal }: Answer): string =>
  [
    `${misdated} entries have dates that the store's record time contradicts.`,
    adjustments.length === 0
      ? 'Nothing is to be booked.'
      : table(
          ['entry', 'credits', 'grant', 'expires', 'book', 'reverses'],
          adjustments.map((one) => [
            one.reference,
            one.amount,
            one.grantId ?? 'a new one',
            one.expiresAt ?? '',
            one.notBefore ?? 'now',
            one.reversesEventId,
          ]),
        ),
    ...notes.map((note) => `Note: ${note}.`),
    ...(proposal
      ? [`Proposed as one correction. Another operator approves it: ${approvalOf(proposal.correction)}`]
      : []),
  ].join('\n');
