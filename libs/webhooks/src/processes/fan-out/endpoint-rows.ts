import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { sql, type Statement, type Step } from '@app/event-sourcing/projections/statement.js';
import type { WebhookEndpointEvent } from '../../contracts/events.js';
import { endpoints } from '../../read-models/endpoint/endpoint.projection.js';

/**
 * What an event of an endpoint changes: its row, and before it what depends on the row as it was. The same event twice
 * changes nothing.
 */
export const endpointSteps = (event: Recorded<WebhookEndpointEvent>): readonly Step[] => [
  ...effectsOf(event),
  { view: endpoints, table: endpoints.table, events: [event] },
];

const effectsOf = (event: Recorded<WebhookEndpointEvent>): readonly Statement[] => {
  const endpointId = streamId(event.stream);
  const revision = String(event.revision);
  const { occurredAt } = event.metadata;
  switch (event.type) {
    case 'WebhookEndpointCreated':
    case 'WebhookEndpointUpdated':
    case 'WebhookEndpointSecretRotated':
      return [];
    case 'WebhookEndpointDisabled':
      return [skipPending(endpointId, revision, occurredAt)];
    case 'WebhookEndpointEnabled':
      return [
        sql`
          delete from webhooks.endpoint_health using webhooks.endpoint
          where endpoint_health.endpoint_id = ${endpointId}
            and endpoint.endpoint_id = endpoint_health.endpoint_id and endpoint.revision < ${revision}`,
        sql`
          update webhooks.lane set ready_at = ${occurredAt}
          from webhooks.endpoint
          where endpoint.endpoint_id = ${endpointId} and lane.workspace_id = endpoint.workspace_id
            and ready_at > ${occurredAt}`,
      ];
    case 'WebhookEndpointDeleted':
      return [
        skipPending(endpointId, revision, occurredAt),
        sql`delete from webhooks.secret where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_health where endpoint_id = ${endpointId}`,
      ];
    default:
      return assertNever(event);
  }
};

/** What was still to be sent is not sent any more, nor when the endpoint is enabled again. */
const skipPending = (endpointId: string, revision: string, occurredAt: string): Statement => sql`
  update webhooks.delivery set status = 'skipped', lease = null, settled_at = ${occurredAt}
  from webhooks.endpoint
  where delivery.endpoint_id = ${endpointId} and delivery.status = 'pending'
    and endpoint.endpoint_id = delivery.endpoint_id and endpoint.revision < ${revision}`;
