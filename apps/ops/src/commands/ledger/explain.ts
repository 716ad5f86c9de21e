import type { Command } from 'commander';
import { CURRENCY, ExplainReading, type ReadingExplanation } from '#billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { causeOf, movement } from './movement.js';
import { passedOver } from './passed-over.js';

export const addExplain = (ledger: Command): void => {
  ledger
    .command('explain')
    .description('every credit movement of a reading and its cause; exit code 1 when they do not match')
    .argument('<reading>', 'the reading id')
    .option('--workspace <id>', 'its workspace: required only for a reading that was never accepted')
    .addHelpText('after', '\nExample:\n  ops ledger explain 0198c5f2-… --json')
    .action(async (readingId: string, { workspace }: { workspace?: string }, command: Command) => {
      const explanation = await withSession(({ queries }) =>
        queries.execute(new ExplainReading(readingId, workspace ?? null)),
      );
      if (!explanation) throw new OpsError(`There is no reading ${readingId}, and no credits moved for it.`);
      print(command, explanation, describe(explanation));
      if (explanation.findings.length > 0) process.exitCode = 1;
    });
};

/** `20 of pack:INV-7 (9.90 USD)` */
const paid = ({ grantId, credits, cents }: ReadingExplanation['credits'][number]['paidBy'][number]): string =>
  `${credits} of ${grantId} (${(cents / 100).toFixed(2)} ${CURRENCY})`;

const describe = ({
  readingId,
  workspaceId,
  outcome,
  reading,
  credits,
  findings,
  setAside,
}: ReadingExplanation): string =>
  [
    `Reading ${readingId} of ${workspaceId}: ${outcome}`,
    '',
    table(
      ['credits event', 'event id', 'at', 'movement', 'paid by', 'caused by'],
      credits.map((one) => [
        one.type,
        one.eventId,
        one.occurredAt,
        movement(one.postings),
        one.paidBy.map(paid).join(', '),
        causeOf(one),
      ]),
    ),
    '',
    table(
      ['reading event', 'event id', 'at', 'moved credits by'],
      reading.map(({ type, eventId, occurredAt, causes }) => [type, eventId, occurredAt, causes.join(', ')]),
    ),
    ...setAside.map(passedOver),
    ...findings.map((finding) => `Finding: ${finding}`),
  ].join('\n');
