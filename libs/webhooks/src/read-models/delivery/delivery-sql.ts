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

/**
 * SQL at the end of every statement that inserts deliveries. It makes their workspace queues ready for when they are
 * due.
 *
 * Queues are locked in one order, so that two inserts cannot deadlock. The insert waits for a worker that is releasing
 * the queue: that worker has not seen these deliveries.
 * @param inserted a common table expression that returns workspace_id, status and due_at of the inserted deliveries
 */
export const markQueuesReady = (inserted: string): string => `
  insert into webhooks.lane as queue (workspace_id, ready_at)
  select workspace_id, min(due_at) from ${inserted} where status = 'pending'
  group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set ready_at = excluded.ready_at where queue.ready_at > excluded.ready_at`;

/**
 * SQL: when a delivery that is due at `dueAt` may be sent. An endpoint that keeps failing is sent nothing before its
 * probe, and one with a limit of its own nothing before its turn. Reads the endpoint's health as `health`.
 */
export const freeAt = (dueAt: string): string => `
  case when ${dueAt} is null then null
       when health.consecutive_failures >= ${PROBE_AFTER_FAILURES}
       then greatest(${dueAt}, health.probe_at, health.paced_until) else greatest(${dueAt}, health.paced_until) end`;

/**
 * SQL: one row with `at`, when the first pending delivery of a workspace may be sent; infinity when there is none.
 * @param restsUntil nothing is sent to `endpoint` before; null: it does not rest
 */
export const earliestFreeAt = (workspaceId: string, restsUntil: string): string => `
  select coalesce(min(greatest(${freeAt('due.at')}, ${restsUntil})) filter (where due.at is not null), 'infinity') as at
  from webhooks.endpoint
  left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id
  cross join lateral (
    select least(
      (select min(due_at) from webhooks.delivery
       where delivery.endpoint_id = endpoint.endpoint_id and status = 'pending' and replay_id is null),
      (select min(due_at) from webhooks.delivery
       where delivery.endpoint_id = endpoint.endpoint_id and status = 'pending' and replay_id is not null)) as at
  ) due
  where endpoint.workspace_id = ${workspaceId} and endpoint.enabled and endpoint.verified
    and endpoint.deleted_at is null`;
