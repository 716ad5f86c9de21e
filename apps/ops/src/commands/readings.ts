import type { Command } from 'commander';
import { resolve } from 'node:path';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import { AdjustCredits } from '@app/billing/contracts/index.js';
import { EraseReading, GetReadingSummary } from '@app/readings/contracts/index.js';
import { readMirror } from '../backup/keys-mirror.js';
import { installationOf } from '../backup/installation.js';
import { OpsError } from '../ops-error.js';
import { print, table, tell } from '../output.js';
import { withProgress } from '../progress.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { findUnreadable, type Unreadable, type UnreadableReading } from './readings/unreadable.js';

/** After a restore: what customers paid and lost, and what must stay erased. */
export const addReadingsCommands = (readings: Command): void => {
  for (const add of [addUnreadable, addRefund, addEraseAgain]) add(readings);
};

const find = (session: Session): Promise<Unreadable> =>
  withProgress('log', (progress) => findUnreadable(session, progress));

const addUnreadable = (readings: Command): void => {
  readings
    .command('unreadable')
    .description('list readings that were paid and cannot be read; exit code 1 when one is not refunded')
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
        ['reading', 'workspace', 'credits', 'captured', 'lost', 'refunded'],
        readings.map(({ readingId, workspaceId, amount, capturedAt, cause, missingFormats, refunded }) => [
          readingId,
          workspaceId,
          amount,
          capturedAt,
          cause === 'key' ? 'key' : missingFormats.join(', '),
          refunded ? 'yes' : 'no',
        ]),
      );

const unknown = ({ unknownKeys, passedOver }: Unreadable): readonly string[] => [
  ...unknownKeys.map(
    (id) => `Not decided: what the key ${id} wraps, because it cannot be opened now (ops keys status).`,
  ),
  ...passedOver.map((event) => `Passed over: ${event}, which is quarantined or cannot be read.`),
];

interface RefundOptions {
  readonly all?: true;
  readonly reason: string;
  readonly approvedBy?: string;
  readonly yes?: true;
}

const addRefund = (readings: Command): void => {
  readings
    .command('refund [readingIds...]')
    .description('refund readings that were paid and cannot be read, once each')
    .option('--all', 'every reading that ops readings unreadable lists')
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently')
    .option('--approved-by <name>', 'who approved it; default: you')
    .option('--yes', 'refund; without this, only show what would be refunded')
    .addHelpText(
      'after',
      `
Each refund is an adjustment that names the capture it reverses. Repeating the command books nothing twice.

Examples:
  ops readings refund --all --reason "INC-42: restored the backup of 20 November"
  ops readings refund 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --reason INC-42 --yes`,
    )
    .action(async (ids: string[], options: RefundOptions, command: Command) => {
      if ((ids.length === 0) === (options.all === undefined))
        throw new OpsError('Name the readings, or refund --all.');
      const answer = await withSession((session) => refund(session, ids, options), HARMLESS_TO_REPEAT);
      const { refunds } = answer;
      const credits = refunds.reduce((sum, { amount }) => sum + amount, 0);
      const done = options.yes ? 'Refunded' : 'Would refund';
      const hint = options.yes || refunds.length === 0 ? '' : ' Add --yes to do it.';
      const lines = refunds.map(({ readingId, amount, outcome }) => [readingId, amount, outcome] as const);
      print(
        command,
        { ...answer, credits },
        `${table(['reading', 'credits', 'outcome'], lines)}\n${done} ${credits} credits for ${refunds.length} readings.${hint}`,
      );
    });
};

type Refund = Pick<UnreadableReading, 'readingId' | 'workspaceId' | 'amount'> & {
  readonly outcome: 'not_refunded' | 'refunded' | 'already_refunded';
};

const refund = async (
  session: Session,
  ids: readonly string[],
  { reason, approvedBy, yes }: RefundOptions,
): Promise<{ readonly refunds: readonly Refund[] }> => {
  const { readings } = await find(session);
  const unfound = ids.filter((id) => !readings.some(({ readingId }) => readingId === id));
  if (unfound.length > 0)
    throw new OpsError(
      `${unfound[0]} can be read, was erased, or was never paid: it is not refunded. Nothing changed.`,
    );
  const chosen = readings.filter(({ readingId }) => ids.length === 0 || ids.includes(readingId));
  const refunds: Refund[] = [];
  for (const reading of chosen) {
    const { readingId, workspaceId, amount, refunded } = reading;
    const outcome = refunded
      ? 'already_refunded'
      : yes
        ? await book(session, reading, reason, approvedBy ?? session.actor)
        : 'not_refunded';
    refunds.push({ readingId, workspaceId, amount: refunded ? 0 : amount, outcome });
  }
  return { refunds };
};

/** The adjustment's id depends on the reading alone, so that two operators book one refund. */
const book = async (
  { commands, by }: Session,
  { readingId, workspaceId, amount, cause, captureEventId }: UnreadableReading,
  reason: string,
  approver: string,
): Promise<'refunded' | 'already_refunded'> => {
  const why = `Refund of reading ${readingId}, whose ${cause} is lost: ${reason}`;
  const id = uuid5(workspaceId, 'refund of a reading', readingId);
  const { outcome } = await commands.execute(
    new AdjustCredits(workspaceId, amount, why, approver, id, by(), captureEventId),
  );
  if (outcome === 'adjusted') return 'refunded';
  if (outcome === 'already_adjusted') return 'already_refunded';
  throw new OpsError(`The refund of ${readingId} was refused (${outcome}). Earlier ones are booked.`);
};

const addEraseAgain = (readings: Command): void => {
  readings
    .command('erase-again')
    .description('record erasures again that a restored log lacks')
    .requiredOption('--keys <folder>', 'the mirror of keys, which lists erased readings')
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
