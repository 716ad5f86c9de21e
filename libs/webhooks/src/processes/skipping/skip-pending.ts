import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Statement } from '@app/event-sourcing/projections/statement.js';
import { transaction } from '@app/platform/postgres/pool.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import { STATUS_AFTER } from '../../domain/delivery/delivery-state.js';
import { appendSettled } from '../../read-models/delivery/settled-sql.js';

/** Deliveries skipped in one transaction: about a fifth of a second. */
const AT_ONCE = 5_000;
const LOOK_EVERY_MS = 1_000;

/** Deliveries inserted so far are to be skipped; those inserted from now on are not. */
const NOTE = `
  insert into webhooks.skipping (endpoint_id, up_to, skipped_at)
  select endpoint_id, coalesce(pg_sequence_last_value('webhooks.delivery_added'), 0), $3::timestamptz
  from webhooks.endpoint where endpoint_id = $1 and revision < $2
  on conflict do nothing`;

/**
 * Leaves out deliveries whose outcome is being recorded, until the next round. The outcome of an attempt under way is
 * added later (processes/dispatch/outcome-sql.ts).
 */
const SKIP = `
  with noted as (
    select * from webhooks.skipping where endpoint_id = $1 order by up_to limit 1
  ), chosen as (
    select delivery.delivery_id, noted.skipped_at
    from noted join webhooks.delivery using (endpoint_id)
    where delivery.status = 'pending' and coalesce(delivery.added, 0) <= noted.up_to
    order by delivery.reading_id, delivery.sequence limit ${AT_ONCE}
    for update of delivery skip locked
  ), ended as (
    delete from webhooks.delivery using chosen where delivery.delivery_id = chosen.delivery_id
    returning delivery.delivery_id, delivery.endpoint_id, delivery.event_id,
              '${STATUS_AFTER.skip}' as status, delivery.attempts, delivery.test, delivery.redelivery,
              delivery.replay_id, delivery.created_at, chosen.skipped_at as settled_at
  ), ${appendSettled('ended')}
  select count(*)::integer as skipped from ended`;

const FORGET = `
  delete from webhooks.skipping noted
  where endpoint_id = $1 and not exists (
    select from webhooks.delivery
    where delivery.endpoint_id = noted.endpoint_id and status = 'pending' and coalesce(added, 0) <= noted.up_to)`;

/**
 * Permanently skips the pending deliveries of an endpoint: enabling it again sends none of them. Skips a few thousand
 * at once and notes the rest, which may be millions, so that the fan-out is not delayed.
 *
 * The caller locks the endpoint's row first, so that running inserts commit before.
 * @param revision of the event: it changes nothing for an endpoint that has seen it
 * @param at when the endpoint was disabled or deleted (RFC 3339)
 */
export const skipPending = (endpointId: string, revision: string, at: string): readonly Statement[] => [
  { text: NOTE, values: [endpointId, revision, at] },
  { text: SKIP, values: [endpointId] },
  { text: FORGET, values: [endpointId] },
];

/** Skips the noted deliveries in the background. */
export const skipNoted = (pool: pg.Pool): WorkLoop => ({
  name: 'webhooks.skipping',
  role: 'webhooks',
  async run(signal) {
    while (!signal.aborted) {
      // The database may be away for a while: the next round tries again.
      const hasMore = await skipNext(pool).catch(() => false);
      if (!hasMore) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});

/** @returns whether there may be more to skip now; deliveries that are being recorded are left for a later round */
const skipNext = (pool: pg.Pool): Promise<boolean> =>
  transaction(pool, async (client) => {
    const { rows } = await client.query<{ endpoint_id: string }>(
      'select endpoint_id from webhooks.skipping order by up_to limit 1 for update skip locked',
    );
    if (!rows[0]) return false;
    const values = [rows[0].endpoint_id];
    const found = await client.query<{ skipped: number }>(SKIP, values);
    await client.query(FORGET, values);
    return found.rows[0]!.skipped === AT_ONCE;
  });
