import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { repeatedWork } from '@app/platform/work/repeated-work.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import { appendSettled } from '../../read-models/delivery/settled-sql.js';

const EVERY_MS = 600_000;
/** Deliveries looked at in one transaction: a few hundredths of a second. */
const AT_ONCE = 1_000;
/** For other work between statements. */
const PAUSE_MS = 20;
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Leaves out a skipped delivery whose attempt is under way: its worker still writes to it. */
const MOVE = `
  with page as materialized (
    select delivery_id from webhooks.delivery where delivery_id > $1 order by delivery_id limit ${AT_ONCE}
  ), ended as (
    delete from webhooks.delivery using page
    where delivery.delivery_id = page.delivery_id and delivery.status <> 'pending'
      and (delivery.lease is null or delivery.due_at < now())
    returning delivery.delivery_id, delivery.endpoint_id, delivery.event_id, delivery.status, delivery.attempts,
              delivery.test, delivery.redelivery, delivery.replay_id, delivery.created_at,
              coalesce(delivery.settled_at, delivery.created_at) as settled_at
  ), ${appendSettled('ended')}
  select (select delivery_id from page order by delivery_id desc limit 1) as last,
         (select count(*)::integer from page) as seen, (select count(*)::integer from ended) as moved`;

/**
 * Moves deliveries that are settled but still in the queue to the history: those from before migration 0016, and those
 * that a process of the previous version has settled since. Each step is a transaction, so a process that ends between
 * two of them leaves every delivery in one place.
 */
export const moveSettled = (pool: pg.Pool, log: Pick<Logger, 'warn' | 'info'>): WorkLoop =>
  repeatedWork(
    'webhooks.move-settled',
    EVERY_MS,
    async (signal) => {
      const moved = await moveAll(pool, signal);
      if (moved > 0) log.info({ moved }, 'settled webhook deliveries moved out of the queue');
    },
    log,
  );

/** Goes through the queue once. @returns how many deliveries were moved */
export const moveAll = async (pool: pg.Pool, signal: AbortSignal, pauseMs = PAUSE_MS): Promise<number> => {
  let after = FIRST;
  for (let total = 0; ;) {
    const { rows } = await pool.query<{ last: string | null; seen: number; moved: number }>(MOVE, [after]);
    const { last, seen, moved } = rows[0]!;
    total += moved;
    if (last === null || seen < AT_ONCE || signal.aborted) return total;
    after = last;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
};
