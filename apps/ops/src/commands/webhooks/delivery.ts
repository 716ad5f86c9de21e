import { InvalidArgumentError, type Command } from 'commander';
import { isUuid } from '#platform/text/uuid.js';
import { FindAnsweredDelivery, type AnsweredDelivery } from '#webhooks/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';

export const addDelivery = (webhooks: Command): void => {
  webhooks
    .command('delivery')
    .description('a delivery with its attempts, and what the receiver answered to failed ones')
    .requiredOption('--delivery <id>', 'the delivery', parseUuid)
    .addHelpText(
      'after',
      '\nExample:\n  ops webhooks delivery --delivery 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11',
    )
    .action(async ({ delivery: deliveryId }: { delivery: string }, command: Command) => {
      const found = await withSession(({ queries }) => queries.execute(new FindAnsweredDelivery(deliveryId)));
      if (!found)
        throw new OpsError(
          `There is no delivery ${deliveryId}. It may be deleted: ops retention status shows what is kept.`,
        );
      print(command, found, describe(found));
    });
};

const describe = ({
  deliveryId,
  endpointId,
  eventId,
  eventType,
  status,
  settledAt,
  history,
}: AnsweredDelivery) =>
  [
    `Delivery ${deliveryId} of ${eventType} (${eventId}) to ${endpointId}: ${status}${settledAt === null ? '' : ` at ${settledAt}`}`,
    '',
    table(
      ['attempt', 'at', 'ms', 'status', 'result', 'answer'],
      history.map(({ number, startedAt, durationMs, statusCode, error, answer }) => [
        number,
        startedAt,
        durationMs,
        statusCode ?? '',
        error ?? 'succeeded',
        answer ?? '',
      ]),
    ),
  ].join('\n');

function parseUuid(text: string): string {
  if (!isUuid(text.toLowerCase())) throw new InvalidArgumentError('must be a UUID');
  return text.toLowerCase();
}
