import type pg from 'pg';
import type { Logger } from 'pino';
import type { Mode } from '#event-sourcing/core/request-context.js';
import type { Statement } from '#event-sourcing/projections/statement.js';
import { transaction } from '#platform/postgres/pool.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { appendSettled } from '../read-models/delivery-sql.js';

/** Deliveries skipped in one transaction: about a fifth of a second. */
const AT_ONCE = 5_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Deliveries inserted so far are to be skipped, if any waits; those inserted from now on are not. $4: the modes that the
 * endpoint keeps.
 */
const NOTE = `
  insert into webhooks.skipping as noted (endpoint_id, up_to, modes, skipped_at)
  select endpoint_id, coalesce(pg_sequence_last_value('webhooks.delivery_added'), 0),
         case when cardinality($4::text[]) = 0 then '{live,test}' else array(select unnest(modes) except select unnest($4)) end,
         $3::timestamptz
  from webhooks.endpoint
  where endpoint_id = $1 and revision < $2 and not modes <@ $4
    and exists (select from webhooks.delivery where delivery.endpoint_id = $1 and status = 'pending')
  on conflict (endpoint_id, up_to) do update set modes = noted.modes || excluded.modes`;

/** Endpoints take turns: none waits until the queue of another is empty. */
const NEXT =
  'select endpoint_id, up_to, modes, skipped_at from webhooks.skipping order by served_at, up_to limit 1 for update skip locked';
const SERVED =
  'update webhooks.skipping set served_at = clock_timestamp() where endpoint_id = $1 and up_to = $2';

/**
 * Of the pending deliveries of an endpoint, those that the note is about. Trials come whatever the modes of the endpoint.
 * Each event is looked up by itself: no plan reads all events for a few deliveries.
 */
const isNoted = (upTo: string, modes: string): string => `
  status = 'pending' and added <= ${upTo} and (${modes} @> '{live,test}' or not test and (
    select case when livemode then 'live' else 'test' end from webhooks.public_event event
    where event.event_id = delivery.event_id) = any (${modes}))`;

/** Leaves out deliveries whose outcome is being recorded, until the next round. */
const LOCK = `
  select delivery_id from webhooks.delivery
  where endpoint_id = $1 and ${isNoted('$2', '$3::text[]')}
  order by reading_id, sequence limit ${AT_ONCE}
  for update skip locked`;

/** A statement of its own sees every attempt recorded before the locks. The outcome of one under way is added later. */
const SKIP = `
  with ended as (
    delete from webhooks.delivery where delivery_id = any ($1)
    returning delivery_id, endpoint_id, event_id, 'skipped' as status, attempts, test, redelivery, replay_id,
              created_at, $2::timestamptz as settled_at
  ), ${appendSettled('ended')}
  select from ended`;

const FORGET = `
  delete from webhooks.skipping noted
  where endpoint_id = $1 and not exists (
    select from webhooks.delivery
    where delivery.endpoint_id = noted.endpoint_id and ${isNoted('noted.up_to', 'noted.modes')})`;

/**
 * Notes that the pending deliveries of an endpoint are to be skipped, permanently: enabling it again, or giving it the
 * mode again, sends none of them. There may be millions, and the fan-out does not wait for them. Until they are skipped, the endpoint is sent nothing.
 *
 * The caller locks the endpoint's row first, so that running inserts commit before.
 * @param revision of the event: it changes nothing for an endpoint that has seen it
 * @param at when the endpoint was changed (RFC 3339)
 * @param kept the modes whose deliveries are sent nevertheless
 */
export const noteSkipping = (
  endpointId: string,
  revision: string,
  at: string,
  kept: readonly Mode[] = [],
): Statement => ({
  text: NOTE,
  values: [endpointId, revision, at, kept],
});

/** Skips noted deliveries in the background, in batches. While that fails, nothing is sent to the noted endpoints. */
export const skipNoted = (pool: pg.Pool, log: Pick<Logger, 'warn'>): WorkLoop => ({
  ...repeatedWork(
    'webhooks.skipping',
    LOOK_EVERY_MS,
    async (signal) => {
      while (!signal.aborted && (await skipNext(pool)));
    },
    log,
  ),
  role: 'webhooks',
});

/** Skips a batch of the endpoint that waited longest for its turn. @returns whether there may be more now; those being recorded wait for a later round */
export const skipNext = (pool: pg.Pool): Promise<boolean> =>
  transaction(pool, async (client) => {
    const { rows } = await client.query<{
      endpoint_id: string;
      up_to: string;
      modes: readonly Mode[];
      skipped_at: Date;
    }>(NEXT);
    if (!rows[0]) return false;
    const { endpoint_id: endpointId, up_to: upTo, modes, skipped_at: skippedAt } = rows[0];
    const locked = await client.query<{ delivery_id: string }>(LOCK, [endpointId, upTo, modes]);
    await client.query(SKIP, [locked.rows.map(({ delivery_id: deliveryId }) => deliveryId), skippedAt]);
    await client.query(SERVED, [endpointId, upTo]);
    const { rowCount: forgotten } = await client.query(FORGET, [endpointId]);
    return locked.rows.length === AT_ONCE || forgotten !== 0;
  });
