import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { repeatedWork } from '@app/platform/work/repeated-work.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { Config } from '../../settings.js';

const EVERY_MS = 600_000;
const AT_ONCE = 500;
/** For other work between statements. */
const PAUSE_MS = 50;
const DAY_MS = 86_400_000;

/** Events of test readings, trials too, with their deliveries and attempts. Two workers take different ones. */
const FORGET = `
  with old as materialized (
    select event_id, workspace_id from webhooks.public_event
    where not livemode and occurred_at < $1 order by occurred_at limit ${AT_ONCE} for update skip locked
  ), of_old as materialized (
    select endpoint.endpoint_id, old.event_id from old join webhooks.endpoint using (workspace_id)
  ), deliveries as (
    delete from webhooks.delivery using of_old
    where delivery.endpoint_id = of_old.endpoint_id and delivery.event_id = of_old.event_id
    returning delivery_id
  ), attempts as (
    delete from webhooks.attempt using deliveries where attempt.delivery_id = deliveries.delivery_id
  ), settled as (
    delete from webhooks.settled_delivery settled using of_old
    where settled.endpoint_id = of_old.endpoint_id and settled.event_id = of_old.event_id
  ), failures as (
    delete from webhooks.unreleased_failure where not livemode and occurred_at < $1
  )
  delete from webhooks.public_event event using old where event.event_id = old.event_id`;

/** Deletes the events of test readings, and their deliveries, after TEST_DATA_KEPT_DAYS. */
export const sweepTestEvents = (
  pool: pg.Pool,
  clock: TrustedClock,
  { TEST_DATA_KEPT_DAYS: days }: Pick<Config, 'TEST_DATA_KEPT_DAYS'>,
  log: Pick<Logger, 'warn'>,
): WorkLoop =>
  repeatedWork(
    'webhooks.test-sweep',
    EVERY_MS,
    async (signal) => {
      const before = (await clock.now()) - days * DAY_MS;
      while (!signal.aborted && (await forgetTestEvents(pool, before)) === AT_ONCE)
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    },
    log,
  );

/**
 * One statement. @param before milliseconds since the epoch
 * @returns how many events were deleted
 */
export const forgetTestEvents = async (pool: pg.Pool, before: number): Promise<number> =>
  (await pool.query(FORGET, [instant(before)])).rowCount ?? 0;
