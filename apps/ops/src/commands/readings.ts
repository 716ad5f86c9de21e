import type { Command } from 'commander';
import { resolve } from 'node:path';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { installationOf } from '#platform/crypto/installation.js';
import { EraseReading, GetReadingSummary } from '#readings/contracts/index.js';
import { readMirror } from '../backup/keys-mirror.js';
import { OpsError } from '../ops-error.js';
import { print, table, tell } from '../output.js';
import { withProgress } from '../progress.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { approvalOf, describeCorrection, KEY_OPTION, propose, type Proposal } from './corrections.js';
import { creditsToRefund, refundOf } from './readings/refund.js';
import { findUnreadable, type Unreadable, type UnreadableReading } from './readings/unreadable.js';
import { someText } from './options.js';

/** After a restore: what customers paid and lost, and what must stay erased. */
export const addReadingsCommands = (readings: Command): void => {
  for (const add of [addUnreadable, addRefund, addEraseAgain]) add(readings);
};

const find = (session: Session): Promise<Unreadable> =>
  withProgress('log', (progress) => findUnreadable(session, progress));

const addUnreadable = (readings: Command): void => {
  readings
    .command('unreadable')
    .description(
      'list readings that were paid and cannot be read; exit code 1 when one is not refunded in full',
    )
    .addHelpText(
      'after',
      `
Their key or a published document is missing, and nobody erased them. Wait until ops projections lag shows nothing.

Example:
  ops readings unreadable --json | jq -r '.readings[].readingId'`,
    )
    .action(async (_: object, command: Command) => {
      const found = await withSession(find);
      const open = found.readings.filter(({ refunded }) => !refunded);
      print(command, found, [list(found.readings), ...unknown(found)].join('\n'));
      if (open.length + found.unknownKeys.length > 0) process.exitCode = 1;
    });
};

const list = (readings: readonly UnreadableReading[]): string =>
  readings.length === 0
    ? 'Every paid reading can be read, or was erased.'
    : table(
        ['reading', 'workspace', 'credits', 'captured', 'lost', 'refunded', 'to refund'],
        readings.map((reading) => [
          reading.readingId,
          reading.workspaceId,
          reading.amount,
          reading.capturedAt,
          reading.cause === 'key' ? 'key' : reading.missingFormats.join(', '),
          reading.givenBack,
          creditsToRefund(reading),
        ]),
      );

const unknown = ({ unknownKeys, passedOver }: Unreadable): readonly string[] => [
  ...unknownKeys.map(
    (id) => `Not decided: what the key ${id} wraps, because it cannot be opened now (ops keys status).`,
  ),
  ...passedOver.map((event) => `Passed over: ${event}, which is set aside or cannot be read.`),
];

interface RefundOptions {
  readonly key?: string;
  readonly all?: true;
  readonly reason: string;
  readonly reference?: string;
  readonly yes?: true;
}

const addRefund = (readings: Command): void => {
  readings
    .command('refund [readingIds...]')
    .description('propose to refund readings that were paid and cannot be read, once each')
    .option('--all', 'every reading that ops readings unreadable lists')
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option('--reference <text>', 'such as INC-42; default: from the readings', someText)
    .option('--yes', 'propose; without this, only show what would be refunded')
    .option(...KEY_OPTION)
    .addHelpText(
      'after',
      `
All refunds are one correction, which another operator approves. Each names the entry it reverses, so nothing is
refunded twice. After a refund in part, it proposes the rest.

Examples:
  ops readings refund --all --reason "restored the backup of 20 November" --reference INC-42
  ops readings refund 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --reason INC-42 --yes`,
    )
    .action(async (ids: string[], options: RefundOptions, command: Command) => {
      if ((ids.length === 0) === (options.all === undefined))
        throw new OpsError('Name the readings, or refund --all.');
      const answer = await withSession((session) => refund(session, ids, options), HARMLESS_TO_REPEAT);
      const { refunds, credits, proposal } = answer;
      const next = proposal
        ? `\n${describeCorrection(proposal.correction)}\nAnother operator approves it: ${approvalOf(proposal.correction)}`
        : 'Add --yes to propose it.';
      const lines = refunds.map(({ readingId, amount, outcome }) => [readingId, amount, outcome] as const);
      print(
        command,
        answer,
        `${table(['reading', 'credits', 'outcome'], lines)}\n${credits} credits to refund.${credits > 0 ? ` ${next}` : ''}`,
      );
    });
};

type Refund = Pick<UnreadableReading, 'readingId' | 'workspaceId' | 'amount'> & {
  readonly outcome: 'not_refunded' | 'proposed' | 'already_refunded';
};

interface Refunds {
  readonly refunds: readonly Refund[];
  readonly credits: number;
  readonly proposal: Proposal | null;
}

const refund = async (session: Session, ids: readonly string[], options: RefundOptions): Promise<Refunds> => {
  const { readings } = await find(session);
  const unfound = ids.filter((id) => !readings.some(({ readingId }) => readingId === id));
  if (unfound.length > 0)
    throw new OpsError(
      `${unfound[0]} can be read, was erased, or was never paid: it is not refunded. Nothing changed.`,
    );
  const chosen = readings.filter(({ readingId }) => ids.length === 0 || ids.includes(readingId));
  const open = chosen.filter(({ refunded }) => !refunded);
  const proposal = options.yes && open.length > 0 ? await proposeRefund(session, open, options) : null;
  const refunds = chosen.map((reading): Refund => {
    const { readingId, workspaceId, refunded } = reading;
    if (refunded) return { readingId, workspaceId, amount: 0, outcome: 'already_refunded' };
    const amount = creditsToRefund(reading);
    return { readingId, workspaceId, amount, outcome: proposal ? 'proposed' : 'not_refunded' };
  });
  return { refunds, credits: refunds.reduce((sum, { amount }) => sum + amount, 0), proposal };
};

const proposeRefund = async (
  session: Session,
  readings: readonly UnreadableReading[],
  options: RefundOptions,
): Promise<Proposal> => {
  const content = refundOf(readings, options);
  const proposal = await propose(session, 'reading_refund', { scope: '', ...content }, options.key);
  if (proposal.correction.status === 'booked')
    throw new OpsError(
      `A correction with the reference ${content.reference} is booked. Choose another reference. Nothing was proposed.`,
    );
  return proposal;
};

const addEraseAgain = (readings: Command): void => {
  readings
    .command('erase-again')
    .description('record erasures again that a restored log lacks')
    .requiredOption(
      '--keys <folder>',
      'the mirror of keys, or the folder erased beside backups: it lists erased readings',
    )
    .option('--yes', 'erase; without this, only show what would be erased')
    .addHelpText('after', '\nExample:\n  ops readings erase-again --keys /keys-mirror --yes')
    .action(async ({ keys, yes }: { keys: string; yes?: true }, command: Command) => {
      const erasures = await withSession(async ({ config, commands, queries, actor }) => {
        const { erased } = readMirror(resolve(keys), installationOf(config));
        const again: string[] = [];
        for (const { readingId, workspaceId } of erased) {
          const found = await queries.execute(new GetReadingSummary(readingId));
          if (!found || found.erasedAt !== null) continue;
          again.push(readingId);
          if (yes) await commands.execute(new EraseReading(readingId, workspaceId, ownRequest(actor)));
        }
        return again;
      }, HARMLESS_TO_REPEAT);
      const said = yes ? 'Erased again' : 'Would erase again';
      print(
        command,
        { erasures, outcome: yes ? 'erased' : 'not_erased' },
        `${said}: ${erasures.length} readings.`,
      );
      if (!yes && erasures.length > 0) tell('Add --yes to do it.');
    });
};
