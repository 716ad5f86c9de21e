import type { Command } from 'commander';
import {
  GetCorrection,
  PlanDateRepair,
  type CorrectionEntry,
  type DateAdjustment,
  type DateRepair,
} from '@app/billing/contracts/index.js';
import { approvalOf } from '../../corrections/describe.js';
import {
  addProposalOptions,
  correctionIdOf,
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
      .option(
        '--propose',
        'propose the next entries of the plan as one correction; another operator approves it',
      )
      .option('--reference <text>', 'of the correction, such as INC-42; default: from the plan', someText),
  )
    .addHelpText(
      'after',
      `
A proposal has 500 entries at most. Run the command again for what is left: entries of open proposals are left out.
After the approval, ops corrections run books the entries of later days on the dates that the plan shows.

Examples:
  ops ledger repair-dates --workspace ws_… --dry-run
  ops ledger repair-dates --workspace ws_… --propose --reference INC-42`,
    )
    .action(async (options: Options, command: Command) => {
      if (options.propose && options.dryRun) throw new OpsError('Choose either --dry-run or --propose.');
      const answer = await withSession((session) => repair(session, options), HARMLESS_TO_REPEAT);
      print(command, answer, describeRepair(answer));
    });
};

export interface Answer extends DateRepair {
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
    reference: options.reference
      ? await freeReference(session, workspace, options.reference)
      : first.reference,
    entries: plan.adjustments.slice(0, plan.next).map((one) => entryFor(workspace, one)),
  };
  return { ...plan, proposal: await propose(session, 'date_repair', content, options) };
};

/** The reference itself, or with a number when earlier parts of the repair have it: INC-42, INC-42/2, … */
export const freeReference = async (
  { queries }: Pick<Session, 'queries'>,
  workspace: string,
  reference: string,
): Promise<string> => {
  for (let part = 1; ; part += 1) {
    const own = part === 1 ? reference : `${reference}/${part}`;
    const taken = await queries.execute(new GetCorrection(correctionIdOf('date_repair', workspace, own)));
    if (!taken || ['rejected', 'withdrawn', 'expired'].includes(taken.status)) return own;
  }
};

const entryFor = (workspaceId: string, { cause, ...adjustment }: DateAdjustment): CorrectionEntry => ({
  workspaceId,
  reason: cause,
  ...adjustment,
});

export const describeRepair = ({ misdated, adjustments, next, open, notes, proposal }: Answer): string => {
  const left = adjustments.length - (proposal ? next : 0);
  return [
    `${misdated} entries have dates that the store's record time contradicts.`,
    adjustments.length === 0
      ? `Nothing ${open.length > 0 ? 'else ' : ''}is to be booked.`
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
    ...open.map(
      ({ correctionId, reference, status, entries }) =>
        `${entries} entries are in the correction ${correctionId} (${reference}), which is ${status}.`,
    ),
    ...(proposal
      ? [
          `Proposed ${next} entries as one correction. Another operator approves it: ${approvalOf(proposal.correction)}`,
        ]
      : []),
    ...(proposal && left > 0 ? [`${left} entries are left: run the command again.`] : []),
    ...(!proposal && left > next ? [`The next proposal takes ${next} of ${left} entries.`] : []),
  ].join('\n');
};
