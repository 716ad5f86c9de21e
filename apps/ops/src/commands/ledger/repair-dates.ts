import type { Command } from 'commander';
import {
  AdjustCredits,
  PlanDateRepair,
  type DateAdjustment,
  type DateRepair,
} from '@app/billing/contracts/index.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../../session.js';

interface Options {
  readonly workspace: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly approvedBy?: string;
}

export const addRepairDates = (ledger: Command): void => {
  ledger
    .command('repair-dates')
    .description(
      'compensate what a wrong clock did to a book: credits expired too early, months granted too early',
    )
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--dry-run', 'print the plan only; the default')
    .option('--yes', 'book the entries that are due now')
    .option('--approved-by <name>', 'the second person who approved the plan; required with --yes')
    .addHelpText(
      'after',
      `
Repeat the command on the dates that the plan shows. Each entry is booked once.

Examples:
  ops ledger repair-dates --workspace ws_… --dry-run
  ops ledger repair-dates --workspace ws_… --yes --approved-by grace`,
    )
    .action(async (options: Options, command: Command) => {
      if (options.yes && options.dryRun) throw new OpsError('Choose either --dry-run or --yes.');
      const answer = await withSession((session) => repair(session, options), HARMLESS_TO_REPEAT);
      print(command, answer, describe(answer));
    });
};

interface Answer extends DateRepair {
  /** References of the entries booked now. */
  readonly booked: readonly string[];
}

const repair = async (session: Session, options: Options): Promise<Answer> => {
  const { commands, queries, requireWorkspace, by, actor, time } = session;
  const { workspace, yes, approvedBy } = options;
  if (yes && (!approvedBy || `operator:${approvedBy}` === actor || approvedBy === actor))
    throw new OpsError('A second person must approve the plan: --approved-by <name>, and not yourself.');
  await requireWorkspace(workspace);
  const plan = await queries.execute(new PlanDateRepair(workspace));
  if (!plan) throw new OpsError(`The workspace ${workspace} has no credit book.`);
  if (!yes) return { ...plan, booked: [] };
  const now = await time.now();
  const due = plan.adjustments.filter(({ notBefore }) => notBefore === null || Date.parse(notBefore) <= now);
  for (const one of due) {
    const { outcome } = await commands.execute(
      new AdjustCredits(
        workspace,
        one.amount,
        one.cause,
        approvedBy!,
        uuid5(workspace, 'adjustment', one.reference),
        by(),
        one.reversesEventId,
        one.reference,
        one.expiresAt,
        one.grantId,
      ),
    );
    if (outcome !== 'adjusted' && outcome !== 'already_adjusted')
      throw new OpsError(`The entry ${one.reference} could not be booked (${outcome}). Those before it are.`);
  }
  return { ...plan, booked: due.map(({ reference }) => reference) };
};

const describe = ({ misdated, adjustments, notes, booked }: Answer): string =>
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
            bookedWhen(one, booked),
            one.reversesEventId,
          ]),
        ),
    ...notes.map((note) => `Note: ${note}.`),
  ].join('\n');

const bookedWhen = ({ reference, notBefore }: DateAdjustment, booked: readonly string[]): string =>
  booked.includes(reference) ? 'booked' : (notBefore ?? 'now');
