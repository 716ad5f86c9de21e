import { FindWebhookEndpoint, WebhookRefused, type EndpointHealth } from '@app/webhooks/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import type { Session } from '../../session.js';

/** @throws OpsError when there is no such endpoint */
export const requireEndpoint = async ({ queries }: Session, endpointId: string): Promise<EndpointHealth> => {
  const found = await queries.execute(new FindWebhookEndpoint(endpointId));
  if (!found) throw new OpsError(`There is no webhook endpoint ${endpointId}: ops webhooks list shows them.`);
  return found;
};

/** Reports a refusal in one line. */
export const asOpsError = (error: unknown): unknown =>
  error instanceof WebhookRefused ? new OpsError(`${error.message}.`) : error;
