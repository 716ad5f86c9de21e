import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Statement } from '@app/event-sourcing/projections/statement.js';
import { transaction } from '@app/platform/postgres/pool.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';

/** Deliveries skipped in one transaction: about a fifth of a second. */
const AT_ONCE = 5_000;
const LOOK_EVERY_MS = 1_000;

/** All that has been added is to be skipped; what is added from now on is not. */
const NOTE = `
  insert into webhooks.skipping (endpoint_id, up_to, skipped_at)
  select endpoint_id, coalesce(pg_sequence_last_value('webhooks.delivery_added'), 0), $3::timestamptz
  from webhooks.endpoint where endpoint_id = $1 and revision < $2
  on conflict do nothing`;

/**
 * Leaves out whose outcome is being recorded: the next time they are free. A delivery in flight keeps its lease, so
 * that its outcome is recorded too.
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
  )
  update webhooks.delivery set status = 'skipped', settled_at = chosen.skipped_at
  from chosen where delivery.delivery_id = chosen.delivery_id`;

const FORGET = `
  delete from webhooks.skipping noted
  where endpoint_id = $1 and not exists (
    select from webhooks.delivery
    where delivery.endpoint_id = noted.endpoint_id and status = 'pending' and coalesce(added, 0) <= noted.up_to)`;

/**
 * What was still to be sent to an endpoint is not sent any more, nor when it is enabled again. A few thousand are
 * skipped at once; of more the rest is noted, for it may be millions, and whoever follows the log must go on.
 *
 * The endpoint's row is to be locked before, so that whoever was adding deliveries has added them.
 * @param revision of the event: it changes nothing for an endpoint that has seen it
 * @param at when the endpoint was disabled or deleted (RFC 3339)
 */
export const skipPending = (endpointId: string, revision: string, at: string): readonly Statement[] => [
  { text: NOTE, values: [endpointId, revision, at] },
  { text: SKIP, values: [endpointId] },
  { text: FORGET, values: [endpointId] },
];

/** Skips what was noted, until nothing is. */
export const skipNoted = (pool: pg.Pool): WorkLoop => ({
  name: 'webhooks.skipping',
  role: 'webhooks',
  async run(signal) {
    while (!signal.aborted) {
      // A database that is away is no reason to stop: the next round asks again.
      const hasMore = await skipNext(pool).catch(() => false);
      if (!hasMore) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});

/** @returns whether there may be more to skip now; what is being recorded is left for a later look */
const skipNext = (pool: pg.Pool): Promise<boolean> =>
  transaction(pool, async (client) => {
    const { rows } = await client.query<{ endpoint_id: string }>(
      'select endpoint_id from webhooks.skipping order by up_to limit 1 for update skip locked',
    );
    if (!rows[0]) return false;
    const values = [rows[0].endpoint_id];
    const { rowCount } = await client.query(SKIP, values);
    await client.query(FORGET, values);
    return rowCount === AT_ONCE;
  });
