import type pg from 'pg';
import { PROBE_AFTER_FAILURES, OUTCOME_PRECEDENCE } from '../domain/attempt.js';

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

/** SQL: when a delivery due at `dueAt` may be sent. An endpoint that keeps failing waits for its probe. Reads `health`. */
export const freeAt = (dueAt: string): string => `
  case when ${dueAt} is not null and health.consecutive_failures >= ${PROBE_AFTER_FAILURES}
       then greatest(${dueAt}, health.probe_at) else ${dueAt} end`;

/** SQL: all deliveries, under the name `delivery`. A settled one has its last attempt, and those before it in `earlier`. */
export const ALL_DELIVERIES = `(
  select delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, replay_id, created_at, settled_at, due_at,
         added, null::timestamptz as started_at, null::integer as duration_ms, null::integer as status_code,
         null::text as error, null::bytea as answer, null::jsonb as earlier
  from webhooks.delivery
  union all
  select delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, replay_id, created_at, settled_at,
         null::timestamptz, null::bigint, started_at, duration_ms, status_code, error, answer, earlier
  from webhooks.settled_delivery
) delivery`;

/** SQL: the attempts of `delivery`, one of all deliveries. */
export const ATTEMPTS = `
  select number, started_at, duration_ms, status_code, error, answer from webhooks.attempt
  where attempt.delivery_id = delivery.delivery_id
  union all
  select delivery.attempts, delivery.started_at, delivery.duration_ms, delivery.status_code, delivery.error, delivery.answer
  where delivery.started_at is not null
  union all
  select (one ->> 'number')::integer, (one ->> 'startedAt')::timestamptz, (one ->> 'durationMs')::integer,
         (one ->> 'statusCode')::integer, one ->> 'error', null
  from jsonb_array_elements(delivery.earlier) one`;

/** SQL: the attempt of a row named `tried`, as an element of `earlier`. */
const EARLIER = `jsonb_build_object('number', tried.number, 'startedAt', tried.started_at, 'durationMs', tried.duration_ms,
                                    'statusCode', tried.status_code, 'error', tried.error)`;

/**
 * SQL: common table expressions that append deliveries to the history, with all their attempts. The caller has removed
 * them from the queue.
 * @param ended a common table expression with the columns of `webhooks.delivery`, and the final status
 * @param made a query for attempts of them that are not stored; without it, there are none
 */
export const appendSettled = (ended: string, made?: string): string => `
    taken as (
      delete from webhooks.attempt using ${ended} ended
      where attempt.delivery_id = ended.delivery_id and ended.attempts > ${made ? 1 : 0}
      returning attempt.delivery_id, attempt.number, attempt.started_at, attempt.duration_ms, attempt.status_code,
                attempt.error, attempt.answer
    ), tried as (
      select * from taken ${made ? `union all ${made}` : ''}
    ), earlier as (
      select tried.delivery_id, jsonb_agg(${EARLIER} order by tried.number) as attempts
      from tried join ${ended} ended using (delivery_id) where tried.number < ended.attempts
      group by tried.delivery_id
    ), settled as (
      insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, replay_id,
                                             created_at, settled_at, started_at, duration_ms, status_code, error,
                                             answer, earlier)
      select ended.delivery_id, ended.endpoint_id, ended.event_id, ended.status, ended.attempts, ended.test,
             ended.redelivery, ended.replay_id, ended.created_at, ended.settled_at, last.started_at, last.duration_ms,
             last.status_code, last.error, last.answer, earlier.attempts
      from ${ended} ended
      left join tried last on last.delivery_id = ended.delivery_id and last.number = ended.attempts
      left join earlier on earlier.delivery_id = ended.delivery_id
    )`;

/** SQL: appends new deliveries that are skipped at once, because their endpoint is closed. */
export const INSERT_SKIPPED = `
  insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                         settled_at)`;

/** May anything be sent to endpoint $1? It cannot be disabled until the caller's inserts commit: they would be sent once enabled. */
export const LOCK_ENDPOINT = `
  select enabled and deleted_at is null as is_open, modes from webhooks.endpoint where endpoint_id = $1 for share`;

/** The same within a statement. $2: whether it may as far as the caller knows, also of one whose row is missing. */
export const OPEN_ENDPOINT = `
  locked as (${LOCK_ENDPOINT}
  ), open_endpoint as (
    select coalesce((select is_open from locked), true) and $2::boolean as is_open
  )`;

/**
 * Wakes the workers for deliveries that a person asked for, and has a failing endpoint tried at once. Comes last; a failure
 * being recorded now decides itself. @param at RFC 3339
 */
export const sendNow = async (
  client: pg.PoolClient,
  endpointId: string,
  workspaceId: string,
  at: string,
): Promise<void> => {
  await client.query(
    `with waiting as (
       select endpoint_id from webhooks.endpoint_health where endpoint_id = $1 and probe_at > $2
       for update skip locked
     ), probed as (
       update webhooks.endpoint_health set probe_at = $2 from waiting
       where endpoint_health.endpoint_id = waiting.endpoint_id
     )
     select pg_notify('webhooks_due', $3)`,
    [endpointId, at, workspaceId],
  );
};
