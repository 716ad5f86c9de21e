import { sql, type Statement } from '#event-sourcing/projections/statement.js';
import type { Notice } from '../domain/notice.js';
import type { PublicEvent } from '../domain/public-event.js';
import { wasTold, lastDeletedPosition, wasDeleted } from '../read-models/event-feed.js';
import {
  isReferenced,
  notifyDue,
  showsExternalIds,
  storedBody,
  INSERT_SKIPPED,
} from '../read-models/delivery-sql.js';

export const rowsOf = (events: readonly PublicEvent[]): Statement => {
  const column = <K extends keyof PublicEvent>(name: K): readonly PublicEvent[K][] =>
    events.map((event) => event[name]);
  return sql`
    select *
    from unnest(${column('eventId')}::text[], ${column('workspaceId')}::text[], ${column('readingId')}::uuid[],
                ${column('type')}::text[], ${column('occurredAt')}::timestamptz[], ${column('bodyHead')}::text[],
                ${column('bodyTail')}::text[], ${column('position')}::numeric[], ${column('traceparent')}::text[],
                ${column('correlationId')}::text[], ${column('livemode')}::boolean[])
      as fact (event_id, workspace_id, reading_id, type, occurred_at, head, tail, position, traceparent, correlation_id,
               livemode)`;
};

/**
 * Stores public events, numbers them per reading without a gap, inserts a delivery for each endpoint that subscribes at
 * this position of the log. An event that is stored already inserts nothing, so
 * endpoints created later do not receive it. Nor does one that retention has deleted.
 *
 * An event whose stream was parked comes late: it is placed behind those that readers of the feed may have seen.
 *
 * The body of a reading with an external id is completed when it is sent (`wholeBody`). Without one it says so. Neither,
 * when the workspace has chosen so by now: later attempts and pages keep it.
 *
 * A delivery that must wait for an earlier one of its reading gets that one's due time. It could not be sent before, and
 * the dispatcher need not read it.
 * @param events selects the events: ids, type and time, the body's head and tail, position, trace context
 */
export const insertDeliveries = (events: Statement, firstPauseMs: number): Statement => {
  const pause = `$${events.values.length + 1}`;
  const text = `
    with fact as (${events.text}
    ), numbered as (
      select fact.event_id, fact.workspace_id, fact.reading_id, fact.type, fact.occurred_at, fact.head, fact.tail,
             fact.traceparent, fact.correlation_id, fact.livemode,
             ${showsExternalIds('fact.workspace_id')} as shows, ${isReferenced('fact.reading_id')} as is_referenced,
             greatest(fact.position,
               coalesce((select max(position) from webhooks.public_event last where last.workspace_id = fact.workspace_id),
                        ${lastDeletedPosition('fact')})
                 + row_number() over (partition by workspace_id order by position)) as position,
             greatest(0,
               (select max(sequence) from webhooks.public_event before where before.reading_id = fact.reading_id),
               (select sequence from webhooks.last_sequence deleted where deleted.reading_id = fact.reading_id))
               + row_number() over (partition by reading_id order by position) as sequence
      from fact
      where not exists (select from webhooks.public_event known where known.event_id = fact.event_id)
        and not ${wasDeleted('fact')}
    ), stored as (
      insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at, position,
                                         traceparent, correlation_id, livemode, shows_external_id)
      select event_id, workspace_id, reading_id, type, sequence,
             ${storedBody('head || sequence || tail', 'shows', 'is_referenced')},
             occurred_at, position, traceparent, correlation_id, livemode, shows and is_referenced
      from numbered
      on conflict (event_id) do nothing
      returning event_id, workspace_id, reading_id as queue, type, sequence, occurred_at, livemode
    ), ${deliverStored(pause)}`;
  return { name: `insert ${events.name}`, text, values: [...events.values, firstPauseMs] };
};

/** Stores notices not told before, and a delivery, each a queue of its own, to endpoints that ask for them. After `lockNotices`. */
export const insertNotices = (notices: readonly Notice[], firstPauseMs: number): Statement => {
  const column = <K extends keyof Notice>(name: K): readonly Notice[K][] =>
    notices.map((notice) => notice[name]);
  const facts = sql`
    select * from unnest(${column('eventId')}::text[], ${column('workspaceId')}::text[], ${column('type')}::text[],
                         ${column('subject')}::text[], ${column('occurrence')}::text[], ${column('body')}::text[],
                         ${column('occurredAt')}::timestamptz[], ${column('traceparent')}::text[],
                         ${column('correlationId')}::text[], ${column('livemode')}::boolean[])
      as fact (event_id, workspace_id, type, subject, occurrence, body, occurred_at, traceparent, correlation_id, livemode)`;
  const text = `
    with fact as materialized (${facts.text}
    ), noted as (
      insert into webhooks.notice (event_id, workspace_id, type, subject, occurrence, livemode, occurred_at, body)
      select event_id, workspace_id, type, subject, occurrence, livemode, occurred_at, body
      from fact where not ${wasTold('fact')} and not ${wasDeleted('fact')}
      order by occurred_at
      on conflict do nothing
      returning event_id
    ), stored as (
      insert into webhooks.public_event (event_id, workspace_id, type, sequence, body, occurred_at, traceparent,
                                         correlation_id, livemode)
      select event_id, workspace_id, type, 0, body, occurred_at, traceparent, correlation_id, livemode
      from fact join noted using (event_id)
      on conflict (event_id) do nothing
      returning event_id, workspace_id, substr(event_id, 5)::uuid as queue, type, sequence, occurred_at, livemode
    ), ${deliverStored(`$${facts.values.length + 1}`)}`;
  return { text, values: [...facts.values, firstPauseMs] };
};

/** Lets one transaction at a time add notices, so that readers of their feed miss none. Comes before every other lock. */
export const lockNotices = sql`select pg_advisory_xact_lock(hashtextextended('webhooks.notices', 0))`;

/** SQL: inserts the deliveries of what `stored` returns, and wakes the workers. @param pause parameter: before the first attempt (ms) */
const deliverStored = (pause: string): string => `
    subscribed as (
      select webhooks.delivery_id(endpoint.endpoint_id, stored.event_id, stored.occurred_at) as delivery_id,
             endpoint.endpoint_id, stored.workspace_id, stored.event_id, stored.queue, stored.sequence, stored.occurred_at,
             endpoint.enabled, endpoint.disabled_at
      from stored
      join webhooks.endpoint on endpoint.workspace_id = stored.workspace_id and endpoint.deleted_at is null
        and stored.type = any (endpoint.events || endpoint.notices)
        and case when stored.livemode then 'live' else 'test' end = any (endpoint.modes)
    ), skipped as (${INSERT_SKIPPED}
      select delivery_id, endpoint_id, event_id, 'skipped', 0, false, false, occurred_at,
             greatest(occurred_at, disabled_at)
      from subscribed where not enabled
    ), inserted as (
      insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                     due_at, created_at)
      select delivery_id, endpoint_id, workspace_id, event_id, queue, sequence, 'pending',
             greatest(occurred_at + ${pause} * interval '1 millisecond', waiting.due_at), occurred_at
      from subscribed
      left join lateral (
        select max(due_at) as due_at from webhooks.delivery earlier
        where earlier.endpoint_id = subscribed.endpoint_id and earlier.reading_id = subscribed.queue
          and earlier.status = 'pending' and not earlier.redelivery
      ) waiting on true
      where enabled
      order by occurred_at
      on conflict (delivery_id) do nothing
      returning workspace_id
    )
    ${notifyDue('inserted')}`;
