import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import type { WebhookEndpointEvent } from '../../contracts/events.js';

/** The rows of an endpoint that one of its events changes. Guarded by revision: the same event twice changes nothing. */
export const endpointStatements = (event: Recorded<WebhookEndpointEvent>): readonly Statement[] => {
  const endpointId = streamId(event.stream);
  const revision = String(event.revision);
  const { occurredAt } = event.metadata;
  switch (event.type) {
    case 'WebhookEndpointCreated': {
      const { workspaceId, url, events, description, secretRef } = event.data;
      const secrets = JSON.stringify([{ ref: secretRef, validUntil: null }]);
      return [
        sql`
          insert into webhooks.endpoint
            (endpoint_id, workspace_id, url, events, description, secrets, revision, created_at, updated_at)
          values (${endpointId}, ${workspaceId}, ${url}, ${events}, ${description}, ${secrets}, ${revision},
                  ${occurredAt}, ${occurredAt})
          on conflict (endpoint_id) do nothing`,
      ];
    }
    case 'WebhookEndpointUpdated': {
      const { url, events, description } = event.data;
      return [
        sql`
          update webhooks.endpoint
          set url = ${url}, events = ${events}, description = ${description}, revision = ${revision}, updated_at = ${occurredAt}
          where endpoint_id = ${endpointId} and revision < ${revision}`,
      ];
    }
    case 'WebhookEndpointSecretRotated': {
      const { secretRef, previousValidUntil } = event.data;
      const newest = JSON.stringify([{ ref: secretRef, validUntil: null }]);
      return [
        sql`
          update webhooks.endpoint
          set secrets = jsonb_path_query_array(
                ${newest}::jsonb || jsonb_set(secrets, '{0,validUntil}', to_jsonb(${previousValidUntil}::text)), '$[0 to 2]'),
              revision = ${revision}, updated_at = ${occurredAt}
          where endpoint_id = ${endpointId} and revision < ${revision}`,
      ];
    }
    case 'WebhookEndpointDisabled':
      return [
        skipPending(endpointId, revision, occurredAt),
        sql`
          update webhooks.endpoint
          set enabled = false, disabled_reason = ${event.data.reason}, disabled_at = ${occurredAt},
              revision = ${revision}, updated_at = ${occurredAt}
          where endpoint_id = ${endpointId} and revision < ${revision}`,
      ];
    case 'WebhookEndpointEnabled':
      return [
        sql`
          with enabled as (
            update webhooks.endpoint
            set enabled = true, disabled_reason = null, disabled_at = null, revision = ${revision}, updated_at = ${occurredAt}
            where endpoint_id = ${endpointId} and revision < ${revision}
            returning endpoint_id)
          delete from webhooks.endpoint_health using enabled where endpoint_health.endpoint_id = enabled.endpoint_id`,
        sql`
          update webhooks.lane set ready_at = ${occurredAt}
          from webhooks.endpoint
          where endpoint.endpoint_id = ${endpointId} and lane.workspace_id = endpoint.workspace_id
            and ready_at > ${occurredAt}`,
      ];
    case 'WebhookEndpointDeleted':
      return [
        skipPending(endpointId, revision, occurredAt),
        sql`
          update webhooks.endpoint
          set enabled = false, secrets = '[]', deleted_at = ${occurredAt}, revision = ${revision}, updated_at = ${occurredAt}
          where endpoint_id = ${endpointId} and revision < ${revision}`,
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
