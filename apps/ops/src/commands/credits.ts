import { InvalidArgumentError, type Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { instant } from '#event-sourcing/core/clock.js';
import { FindReversible } from '#billing/contracts/index.js';
import { entryOf, KEY_OPTION, printProposal, propose } from './corrections.js';
import { OpsError } from '../ops-error.js';
import { tell } from '../output.js';
import { withSession, type Session } from '../session.js';
import { parseInstant, someText } from './options.js';

/** Corrections of a balance. Nobody books one alone: these commands propose, and another operator approves. */
export const addCreditsCommands = (credits: Command): void => {
  addAdjust(credits);
  addReverse(credits);
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

const addAdjust = (credits: Command): void => {
  credits
    .command('adjust')
    .description('propose to change a balance by a signed number of credits; another operator approves it')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--amount <credits>', 'whole number; negative removes credits', parseAmount)
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option('--reverses <event>', 'the id of the event in this book that the adjustment corrects')
    .option(...REFERENCE)
    .option(...KEY_OPTION)
    .addHelpText(
      'after',
      `
The same reference is booked once, however often you repeat the command.

Examples:
  ops credits adjust --workspace ws_… --amount 20 --reason "outage of 3 April" --reference INC-42
  ops credits adjust --workspace ws_… --amount -20 --reason "goodwill withdrawn" --reverses bb8bebe9-…`,
    )
    .action((options: Options & { reverses?: string }, command: Command) =>
      proposeEntry(command, options, async () => ({
        kind: 'adjustment',
        amount: options.amount!,
        reversesEventId: options.reverses ?? null,
        grantId: null,
        expiresAt: null,
      })),
    );
};

const addReverse = (credits: Command): void => {
  credits
    .command('reverse')
    .description('propose to reverse an entry, all of it or a part; another operator approves it')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--event <id>', 'the entry: ops ledger statement --json shows ids')
    .option('--amount <credits>', 'a part of it, signed; default: all that is not reversed yet', parseAmount)
    .option(
      '--expires <instant>',
      'day or instant at which credits that come back expire; default: never',
      parseInstant,
    )
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option(...REFERENCE)
    .option(...KEY_OPTION)
    .addHelpText(
      'after',
      `
All reversals of an entry together give or take at most its amount. Credits are taken back from the grant of the entry,
and never below what is used or held. The value goes back to where it was: a sale becomes a refund to pay back, and a
refunded reading was not earned.

Example:
  ops credits reverse --workspace ws_… --event bb8bebe9-… --reason "granted twice" --reference INC-42`,
    )
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

interface Entry {
  readonly kind: 'adjustment' | 'reversal';
  readonly amount: number;
  readonly reversesEventId: string | null;
  readonly grantId: string | null;
  readonly expiresAt: string | null;
}

const proposeEntry = async (
  command: Command,
  options: Options,
  find: (session: Session) => Promise<Entry>,
): Promise<void> => {
  const { workspace, reason, reference = `ops-${randomUUID()}` } = options;
  const proposal = await withSession(async (session) => {
    await session.requireWorkspace(workspace);
    const { kind, ...entry } = await find(session);
    // Printed before it is recorded: if the connection breaks, the operator needs it to repeat the command.
    if (options.reference === undefined) tell(`Reference: ${reference}`);
    const entries = [entryOf({ workspaceId: workspace, reason, reference, ...entry })];
    return propose(session, kind, { scope: workspace, reason, reference, entries }, options.key);
  }, `repeat the command with --reference ${reference} to propose it exactly once`);
  printProposal(command, proposal);
};

function parseAmount(text: string): number {
  const amount = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(amount) || amount === 0) {
    throw new InvalidArgumentError('must be a whole number other than 0');
  }
  return amount;
}
