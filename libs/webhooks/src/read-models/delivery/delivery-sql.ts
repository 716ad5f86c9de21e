import { PROBE_AFTER_FAILURES } from '../../domain/delivery/attempt-result.js';
import { OUTCOME_PRECEDENCE } from '../../domain/delivery/delivery-state.js';

/** SQL: whether bodies made now for a workspace show the external ids of readings. */
export const showsExternalIds = (workspaceId: string): string => `
  not exists (select from webhooks.content where content.workspace_id = ${workspaceId} and not content.external_id)`;

/** SQL: whether a reading has an external id. @param readingId a uuid */
export const isReferenced = (readingId: string): string => `
  exists (select from platform.subject_key key where key.subject_id = ${readingId} and key.lookups is not null)`;

/** SQL: a body as it is stored: without the external id, but it says so when there is none to show. */
export const storedBody = (body: string, shows: string, referenced: string): string => `
  case when ${shows} and not ${referenced} then left(${body}, -1) || ',"externalId":null}' else ${body} end`;

/** SQL: the outcome of an event, over the statuses of a group of its deliveries. */
export const EVENT_OUTCOME = `
  case ${OUTCOME_PRECEDENCE.map((status) => `when bool_or(status = '${status}') then '${status}'`).join(' ')}
       else 'missing' end`;

/** SQL: a settled `unsent` delivery was skipped before any attempt. A redelivery or a replay of its event replaces it. */
export const NEVER_ATTEMPTED = `
  unsent.status = 'skipped' and unsent.attempts = 0`;

/** SQL: wakes the workers for the workspaces of deliveries. @param from where the column workspace_id is */
export const notifyDue = (from: string): string => `
  select pg_notify('webhooks_due', workspace_id) from (select distinct workspace_id from ${from}) due`;

/**
 * SQL: when a delivery that is due at `dueAt` may be sent. An endpoint that keeps failing is sent nothing before its
 * probe. Reads the endpoint's health as `health`.
 */
export const freeAt = (dueAt: string): string => `
  case when ${dueAt} is not null and health.consecutive_failures >= ${PROBE_AFTER_FAILURES}
       then greatest(${dueAt}, health.probe_at) else ${dueAt} end`;
