import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { appendSettled } from '../../read-models/delivery-sql.js';

/** A due delivery that no earlier delivery of its reading holds up. */
export interface DueDelivery {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly eventId: string;
  readonly type: string;
  /** As stored; `wholeBody` gives what is sent. */
  readonly body: string;
  readonly showsExternalId: boolean;
  readonly readingId: string | null;
  /** Id of the request that the event follows from; `null` for a trial, and for events of older versions. */
  readonly requestId: string | null;
  readonly livemode: boolean;
  readonly test: boolean;
  /** Requested by itself: outside the order of its reading. */
  readonly redelivery: boolean;
  /** Part of a replay: within the order. */
  readonly replayed: boolean;
}

export interface DueQuery {
  readonly endpointId: string;
  /** Deliveries to omit: already read, and not settled yet. */
  readonly known: readonly string[];
  /** No pending delivery, new or replayed, is due earlier: the index is read from here, past settled entries. */
  readonly dueFrom: string;
  readonly replayedFrom: string;
}

export interface DueBatch {
  readonly endpointId: string;
  readonly due: readonly DueDelivery[];
  readonly hasMore: boolean;
  readonly dueFrom: string;
  readonly replayedFrom: string;
}

/** `deliveryId` is null for an endpoint without a due delivery; `type` is null when the event is gone. */
type Row = Omit<DueDelivery, 'deliveryId' | 'type'> & {
  readonly endpointId: string;
  readonly dueFrom: string | null;
  readonly replayedFrom: string | null;
  readonly deliveryId: string | null;
  readonly type: string | null;
};

/** The due deliveries of an endpoint that no earlier delivery of their reading holds up, the earliest due first. */
const due = (replayed: 'is null' | 'is not null', from: string, limit: string): string => `
  (select due.delivery_id, due.attempts, due.event_id, due.test, due.redelivery, due.due_at,
          due.replay_id is not null as replayed
   from webhooks.delivery due
   where due.endpoint_id = asked.endpoint_id and due.status = 'pending' and due.replay_id ${replayed}
     and due.due_at between ${from} and $5
     and due.delivery_id <> all (asked.known)
     and (due.redelivery or due.sequence <= 1 or coalesce((
       select false from webhooks.delivery earlier
       where earlier.endpoint_id = due.endpoint_id and earlier.reading_id = due.reading_id
         and earlier.sequence < due.sequence and earlier.status = 'pending' and not earlier.redelivery
       limit 1), true))
   order by due.due_at
   limit ${limit})`;

const earliest = (replayed: 'is null' | 'is not null', from: string): string => `
  (select min(due_at) from webhooks.delivery
   where delivery.endpoint_id = one.endpoint_id and status = 'pending' and replay_id ${replayed} and due_at >= ${from})`;

/**
 * New events go before replayed ones, so no more replayed deliveries are read than can be sent at once.
 *
 * Shaped for the planner: lookups are lateral with a limit it knows, and the search for an earlier delivery is a scalar
 * subquery. As plain joins they were planned over the whole table.
 */
const READ = `
  with asked as materialized (
    select endpoint_id, known::uuid[] as known, ${earliest('is null', 'due_from')} as due_from,
           ${earliest('is not null', 'replayed_from')} as replayed_from
    from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
      as one (endpoint_id, known, due_from, replayed_from)
  )
  select asked.endpoint_id as "endpointId", asked.due_from::text as "dueFrom", asked.replayed_from::text as "replayedFrom",
         next.delivery_id as "deliveryId", next.attempts + 1 as attempt, next.event_id as "eventId", event.type, event.body,
         event.shows_external_id as "showsExternalId", event.reading_id as "readingId", event.correlation_id as "requestId",
         event.livemode, next.test, next.redelivery, next.replayed
  from asked
  left join lateral (
    ${due('is null', 'asked.due_from', '$6')} union all ${due('is not null', 'asked.replayed_from', '$7')}
  ) next on true
  left join lateral (
    select type, body, shows_external_id, reading_id, correlation_id, livemode
    from webhooks.public_event event where event.event_id = next.event_id limit 1
  ) event on true
  order by next.due_at`;

/** Retention may have deleted an event while a transaction it did not see added a delivery of it: the delivery is skipped. */
const END_WITHOUT_EVENT = `
  with ended as (
    delete from webhooks.delivery
    where delivery_id = any ($1::uuid[]) and status = 'pending'
      and not exists (select from webhooks.public_event event where event.event_id = delivery.event_id)
    returning delivery_id, endpoint_id, event_id, 'skipped' as status, attempts, test, redelivery, replay_id,
              created_at, $2::timestamptz as settled_at
  ), ${appendSettled('ended')}
  select from ended`;

/** Reads due deliveries of claimed workspaces, and ends those whose event is gone. @param limits of one endpoint @param now in ms */
export const readDue = async (
  pool: pg.Pool,
  queries: readonly DueQuery[],
  limits: { readonly fresh: number; readonly replayed: number },
  now: number,
): Promise<readonly DueBatch[]> => {
  const { rows } = await pool.query<Row>({
    name: 'webhooks.due',
    text: READ,
    values: [
      queries.map(({ endpointId }) => endpointId),
      queries.map(({ known }) => `{${known.join(',')}}`),
      queries.map(({ dueFrom }) => dueFrom),
      queries.map(({ replayedFrom }) => replayedFrom),
      instant(now),
      limits.fresh,
      limits.replayed,
    ],
  });
  const withoutEvent = rows.filter((row) => row.deliveryId !== null && row.type === null);
  if (withoutEvent.length > 0)
    await pool.query(END_WITHOUT_EVENT, [withoutEvent.map(({ deliveryId }) => deliveryId), instant(now)]);
  const batches = new Map(queries.map((one) => [one.endpointId, { ...one, due: [] as DueDelivery[] }]));
  for (const { endpointId, dueFrom, replayedFrom, deliveryId, type, ...delivery } of rows) {
    const one = batches.get(endpointId)!;
    one.dueFrom = dueFrom ?? one.dueFrom;
    one.replayedFrom = replayedFrom ?? one.replayedFrom;
    if (deliveryId !== null && type !== null) one.due.push({ deliveryId, type, ...delivery });
  }
  const incomplete = new Set(withoutEvent.map(({ endpointId }) => endpointId));
  return [...batches.values()].map((one) => {
    const replayed = one.due.filter((delivery) => delivery.replayed).length;
    const hasMore =
      one.due.length - replayed === limits.fresh ||
      replayed === limits.replayed ||
      incomplete.has(one.endpointId);
    return { ...one, hasMore };
  });
};
