import { STATUS_AFTER } from '../../domain/delivery/delivery-state.js';

/**
 * SQL: all deliveries, pending and settled, under the name `delivery`. What a settled one keeps of its last attempt is in
 * `started_at`, `duration_ms`, `status_code` and `error`; attempts of a pending one are rows of `webhooks.attempt`.
 */
export const ALL_DELIVERIES = `(
  select delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, replay_id, created_at, settled_at, due_at,
         added, null::timestamptz as started_at, null::integer as duration_ms, null::integer as status_code,
         null::text as error, null::jsonb as earlier
  from webhooks.delivery
  union all
  select delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, replay_id, created_at, settled_at,
         null::timestamptz, null::bigint, started_at, duration_ms, status_code, error, earlier
  from webhooks.settled_delivery
) delivery`;

/** SQL: all attempts, of pending and settled deliveries, under the name `attempt`. */
export const ALL_ATTEMPTS = `(
  select delivery_id, endpoint_id, number, started_at, duration_ms, status_code, error, answer from webhooks.attempt
  union all
  select delivery_id, endpoint_id, attempts, started_at, duration_ms, status_code, error, answer
  from webhooks.settled_delivery
  where started_at is not null
  union all
  select settled.delivery_id, settled.endpoint_id, before.*, null
  from webhooks.settled_delivery settled cross join lateral (
    select (one ->> 'number')::integer as number, (one ->> 'startedAt')::timestamptz as started_at,
           (one ->> 'durationMs')::integer as duration_ms, (one ->> 'statusCode')::integer as status_code,
           one ->> 'error' as error
    from jsonb_array_elements(settled.earlier) one) before
  where settled.earlier is not null
) attempt`;

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

/**
 * SQL: the same for deliveries whose last attempt succeeded, which most do. Fewer joins: the removed rows carry that attempt.
 * @param ended a common table expression with the columns of `webhooks.delivery`, and started_at, duration_ms and status_code
 */
export const appendSucceeded = (ended: string): string => `
    taken as (
      delete from webhooks.attempt using ${ended} ended
      where attempt.delivery_id = ended.delivery_id and ended.attempts > 1
      returning attempt.delivery_id, attempt.number, attempt.started_at, attempt.duration_ms, attempt.status_code,
                attempt.error
    ), earlier as (
      select delivery_id, jsonb_agg(${EARLIER} order by number) as attempts from taken tried group by delivery_id
    ), settled as (
      insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, replay_id,
                                             created_at, settled_at, started_at, duration_ms, status_code, earlier)
      select ended.delivery_id, endpoint_id, event_id, '${STATUS_AFTER.succeed}', ended.attempts, test, redelivery, replay_id,
             created_at, settled_at, started_at, duration_ms, status_code, earlier.attempts
      from ${ended} ended left join earlier on earlier.delivery_id = ended.delivery_id
    )`;

/** SQL: appends new deliveries that are skipped at once, because their endpoint is closed. */
export const INSERT_SKIPPED = `
  insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                         settled_at)`;
