import { FindWebhookEndpoint, type FoundEndpoint, type WebhookRefusal } from '#webhooks/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import type { Session } from '../../session.js';

/** @throws OpsError when there is no such endpoint */
export const requireEndpoint = async ({ queries }: Session, endpointId: string): Promise<FoundEndpoint> => {
  const found = await queries.execute(new FindWebhookEndpoint(endpointId));
  if (!found) throw new OpsError(`There is no webhook endpoint ${endpointId}: ops webhooks list shows them.`);
  return found;
};

/** A refusal in one line. */
export const refusedBecause = (refusal: WebhookRefusal): OpsError => {
  switch (refusal.outcome) {
    case 'endpoint_disabled':
      return new OpsError('The endpoint is disabled: enable it first.');
    case 'replay_in_progress':
      return new OpsError(`The replay ${refusal.replayId} of the endpoint is still running.`);
    case 'no_longer_kept':
      return new OpsError(
        `Events from before ${refusal.keptSince} are deleted: use this instant or a later one.`,
      );
    case 'webhook_not_found':
      return new OpsError('There is no such webhook endpoint any more.');
    default:
      return new OpsError(`Refused: ${refusal.outcome}.`);
  }
};
