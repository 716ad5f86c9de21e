import type pg from 'pg';
import type { Logger } from 'pino';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { earliestFreeAt } from '../../read-models/delivery/delivery-sql.js';

const REPAIR_EVERY_MS = 30_000;

/** A released queue may rest this long although something is due (REST_MS), and a release may be under way. */
const TOLERANCE = `interval '3 seconds'`;

/** Something of the endpoint is in flight: its end makes the queue ready. */
const IN_FLIGHT_UNTIL = `
  (select min(due_at) from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and lease is not null and due_at > $1)`;

/** Workspaces with deliveries that may be sent now, whose queue is missing or not ready. */
const STALLED = `
  select stalled.workspace_id, earliest.at
  from (
    select distinct workspace_id from webhooks.endpoint left join webhooks.lane queue using (workspace_id)
    where endpoint.enabled and endpoint.deleted_at is null
      and (queue.workspace_id is null or queue.ready_at > $1::timestamptz + ${TOLERANCE})
  ) stalled
  cross join lateral (${earliestFreeAt('stalled.workspace_id', IN_FLIGHT_UNTIL)}) earliest
  where earliest.at <= $1`;

const MARK_READY = `
  insert into webhooks.lane as queue (workspace_id, ready_at) values ($1, $2)
  on conflict (workspace_id) do update set ready_at = excluded.ready_at where queue.ready_at > excluded.ready_at`;

/**
 * Makes queues ready whose deliveries were inserted without doing so, as a restore or an operator does. A queue made
 * ready without a due delivery costs one claim.
 */
export const repairQueues = (
  pool: pg.Pool,
  clock: Clock,
  log: Pick<Logger, 'warn'>,
  everyMs = REPAIR_EVERY_MS,
): WorkLoop => ({
  ...repeatedWork('webhooks.queue-repair', everyMs, () => repairOnce(pool, instant(clock.now())), log),
  role: 'webhooks',
});

/** Locks one queue at a time: inserting transactions lock several, in orders of their own. */
const repairOnce = async (pool: pg.Pool, at: string): Promise<void> => {
  const { rows } = await pool.query<{ workspace_id: string; at: Date }>(STALLED, [at]);
  for (const { workspace_id: workspaceId, at: readyAt } of rows)
    await pool.query(MARK_READY, [workspaceId, readyAt]);
  if (rows.length > 0) await pool.query(`select pg_notify('webhooks_due', '')`);
};
