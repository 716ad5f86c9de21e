import type { Command } from 'commander';
import {
  BookCorrection,
  GetCorrection,
  ListCorrections,
  RecordCorrection,
  type BookCorrectionResult,
  type Correction,
  type SignedCorrectionEvent,
} from '@app/billing/contracts/index.js';
import {
  describeBookRefusal,
  approvalOf,
  describeCorrection,
  describeRefusal,
} from '../corrections/describe.js';
import { KEY_OPTION, signerOf } from '../corrections/operator-key.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { addExport } from './corrections/export.js';
import { addVerify } from './corrections/verify.js';
import { someText, wholeNumber } from './options.js';

/** Corrections of credit books: one operator proposes, another one approves. */
export const addCorrectionsCommands = (corrections: Command): void => {
  for (const add of [addList, addShow, addApprove, addReject, addWithdraw, addRun, addExport, addVerify])
    add(corrections);
};

const find = async (session: Session, id: string): Promise<Correction> => {
  requireRootKeys(session);
  const correction = await session.queries.execute(new GetCorrection(id));
  if (!correction) throw new OpsError(`There is no correction ${id}: ops corrections list shows them.`);
  return correction;
};

/** @throws OpsError without them: no signature counts, and no correction is one */
const requireRootKeys = ({ config }: Session): void => {
  if (config.OPERATOR_ROOT_KEYS.length === 0)
    throw new OpsError('OPERATOR_ROOT_KEYS is not set here, so nobody knows which operators to trust.');
};

const addList = (corrections: Command): void => {
  corrections
    .command('list')
    .description('corrections that somebody proposed or approved in the last days, newest first')
    .option('--days <number>', 'how many days (UTC), today included', wholeNumber, 32)
    .addHelpText('after', '\nExample:\n  ops corrections list --days 7')
    .action(async ({ days }: { days: number }, command: Command) => {
      const found = await withSession((session) => {
        requireRootKeys(session);
        return session.queries.execute(new ListCorrections(days));
      });
      print(
        command,
        { corrections: found },
        found.length === 0
          ? 'There are none.'
          : table(
              [
                'correction',
                'status',
                'kind',
                'credits',
                'reference',
                'proposed by',
                'approved by',
                'expires',
              ],
              found.map((one) => [
                one.correctionId,
                one.status,
                one.kind,
                one.credits,
                one.reference,
                one.proposed.signedBy.operator,
                one.approved?.signedBy.operator ?? '',
                one.expiresAt,
              ]),
            ),
      );
    });
};

const addShow = (corrections: Command): void => {
  corrections
    .command('show <id>')
    .description('one correction with its entries and signatures')
    .addHelpText('after', '\nExample:\n  ops corrections show 4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f')
    .action(async (id: string, _: object, command: Command) => {
      const correction = await withSession((session) => find(session, id));
      print(command, correction, describeCorrection(correction));
    });
};

interface ApproveOptions {
  readonly key?: string;
  readonly proposal?: string;
  readonly yes?: true;
}

const addApprove = (corrections: Command): void => {
  corrections
    .command('approve <id>')
    .description('sign a proposal as the second operator, and book it')
    .option(...KEY_OPTION)
    .option('--proposal <sha256>', 'the digest of the proposal that you looked at; --yes needs it')
    .option('--yes', 'approve; without this, only show what would be approved')
    .addHelpText(
      'after',
      `
Look first, without --yes: it prints the command with the digest of what you see. Another proposal that has taken its
place since is refused. Repeating the command is safe: it books what an interrupted run has left. Exit code 1 when a
book refuses.

Examples:
  ops corrections approve 4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f
  ops corrections approve 4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f --proposal 41ab… --key ~/.keys/grace.pem --yes`,
    )
    .action(async (id: string, options: ApproveOptions, command: Command) => {
      if (options.yes && options.proposal === undefined)
        throw new OpsError(
          `Add --proposal with the digest of what you approve: ops corrections approve ${id} shows it. Nothing was signed.`,
        );
      const answer = await withSession(async (session) => {
        const correction = await find(session, id);
        if (options.proposal !== undefined && options.proposal !== correction.proposal)
          throw new OpsError(`The proposal has the digest ${correction.proposal}. Nothing was signed.`);
        if (!options.yes) return { outcome: 'not_approved' as const, correction };
        const signer = await signerOf(session, options.key);
        const { correctionId, proposal } = correction;
        const data = { correctionId, proposal };
        await record(session, await signer.sign({ type: 'CorrectionApproved', data }));
        return session.commands.execute(new BookCorrection(correctionId, session.by()));
      }, HARMLESS_TO_REPEAT);
      if (answer.outcome !== 'not_approved') return printBooked(command, answer);
      print(
        command,
        answer,
        `${describeCorrection(answer.correction)}\nTo approve it: ${approvalOf(answer.correction)}`,
      );
    });
};

const record = async (session: Session, statement: SignedCorrectionEvent) => {
  const result = await session.commands.execute(new RecordCorrection(statement, session.by()));
  if (result.outcome === 'refused')
    throw new OpsError(`${describeRefusal(result.refusal)}. Nothing changed.`);
  return result;
};

const printBooked = (command: Command, result: BookCorrectionResult): void => {
  if (result.outcome === 'refused') throw new OpsError(`${describeRefusal(result.refusal)}.`);
  const { correction, refusals, later } = result;
  const left =
    later.length === 0 ? [] : [`${later.length} entries are for later: ops corrections run on their day.`];
  const refused = refusals.map((one) => `Not booked: ${describeBookRefusal(one)}.`);
  print(command, result, [describeCorrection(correction), ...left, ...refused].join('\n'));
  if (refusals.length > 0) process.exitCode = 1;
};

type Ending = Extract<SignedCorrectionEvent, { type: 'CorrectionRejected' | 'CorrectionWithdrawn' }>;

const addEnd =
  (name: 'reject' | 'withdraw', description: string) =>
  (corrections: Command): void => {
    corrections
      .command(`${name} <id>`)
      .description(description)
      .requiredOption('--reason <text>', 'why; kept with the signatures', someText)
      .option(...KEY_OPTION)
      .addHelpText('after', `\nExample:\n  ops corrections ${name} 4f1c2e9d-… --reason "wrong workspace"`)
      .action(async (id: string, { reason, key }: { reason: string; key?: string }, command: Command) => {
        const result = await withSession(async (session) => {
          const { correctionId, proposal } = await find(session, id);
          const signer = await signerOf(session, key);
          const type = name === 'reject' ? 'CorrectionRejected' : 'CorrectionWithdrawn';
          const data = { correctionId, proposal, reason };
          return record(session, await signer.sign<Ending>({ type, data }));
        }, HARMLESS_TO_REPEAT);
        print(command, result.correction, describeCorrection(result.correction));
      });
  };

const addReject = addEnd('reject', 'end a proposal that you do not approve; what is booked stays');
const addWithdraw = addEnd('withdraw', 'end your own proposal; what is booked stays');

const addRun = (corrections: Command): void => {
  corrections
    .command('run <id>')
    .description('book what an approved correction has due: after an interruption, or on a later day')
    .addHelpText(
      'after',
      '\nNeeds no signature. Each entry is booked once.\n\nExample:\n  ops corrections run 4f1c2e9d-…',
    )
    .action(async (id: string, _: object, command: Command) => {
      const result = await withSession(
        ({ commands, by }) => commands.execute(new BookCorrection(id, by())),
        HARMLESS_TO_REPEAT,
      );
      printBooked(command, result);
    });
};
