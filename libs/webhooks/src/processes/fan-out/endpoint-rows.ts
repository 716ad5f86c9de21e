import { assertNever } from '#event-sourcing/core/decision.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { sql, type Statement, type Step } from '#event-sourcing/projections/statement.js';
import { foldInto } from '#event-sourcing/projections/view.js';
import type { WebhookEndpointEvent } from '../../contracts/events.js';
import { endpoints } from '../../read-models/endpoint/endpoint.projection.js';
import { noteSkipping } from '../skipping/skip-pending.js';
import { askForProbe, endProbes, probeAgain } from '../verification/probe-rows.js';

/**
 * Locks these endpoints until the transaction ends: waits for inserts of deliveries, and holds up further ones. Comes first in
 * the transaction, as in every insert.
 */
export const lockEndpoints = (events: readonly Recorded<WebhookEndpointEvent>[]): readonly Statement[] => {
  const known = events.filter(({ type }) => type !== 'WebhookEndpointCreated');
  if (known.length === 0) return [];
  const endpointIds = known.map(({ stream }) => streamId(stream));
  return [
    sql`select from webhooks.endpoint where endpoint_id = any (${endpointIds}) order by endpoint_id for no key update`,
  ];
};

/**
 * What an event of an endpoint changes: its row, and before it what depends on the row as it was. The same event twice
 * changes nothing.
 */
export const endpointSteps = (event: Recorded<WebhookEndpointEvent>): readonly Step[] => [
  ...effectsOf(event),
  foldInto(endpoints, [event]),
];

const effectsOf = (event: Recorded<WebhookEndpointEvent>): readonly Statement[] => {
  const endpointId = streamId(event.stream);
  const revision = String(event.revision);
  const { occurredAt } = event.metadata;
  switch (event.type) {
    case 'WebhookEndpointCreated':
      return event.data.verified ? [] : [askForProbe(endpointId, event.data.url, occurredAt)];
    case 'WebhookEndpointSecretRotated':
      return [];
    case 'WebhookEndpointUpdated':
      return [
        noteSkipping(endpointId, revision, occurredAt, event.data.modes),
        resetFailures(endpointId, revision, event.data.url),
        event.data.verified ? endProbes(endpointId) : askForProbe(endpointId, event.data.url, occurredAt),
      ];
    case 'WebhookEndpointVerified':
      return [endProbes(endpointId)];
    case 'WebhookEndpointDisabled':
      return [noteSkipping(endpointId, revision, occurredAt)];
    case 'WebhookEndpointEnabled':
      return [resetFailures(endpointId, revision, null), probeAgain(endpointId, occurredAt)];
    case 'WebhookEndpointDeleted':
      return [
        noteSkipping(endpointId, revision, occurredAt),
        sql`delete from webhooks.secret where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_headers where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_health where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_hour where endpoint_id = ${endpointId}`,
        endProbes(endpointId),
      ];
    default:
      return assertNever(event);
  }
};

/**
 * Resets the failures of an endpoint: it is treated like a new one.
 * @param movedTo its new URL: nothing changes if it had this one before; `null`: its failures are reset in any case
 */
const resetFailures = (endpointId: string, revision: string, movedTo: string | null): Statement => sql`
  delete from webhooks.endpoint_health using webhooks.endpoint
  where endpoint_health.endpoint_id = ${endpointId} and endpoint.endpoint_id = endpoint_health.endpoint_id
    and endpoint.revision < ${revision} and endpoint.url is distinct from ${movedTo}`;
