import type pg from 'pg';
import type { Logger } from 'pino';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { repeatedWork } from '@app/platform/work/repeated-work.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { Config } from '../../settings.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

type Kept = Pick<Config, 'TEST_DATA_KEPT_DAYS' | 'WEBHOOK_NOTICES_KEPT_DAYS' | 'WEBHOOK_STATS_KEPT_DAYS'>;

/** Deletes notices from their feed, and hourly sums, when their days are over. */
export const sweepNoticesAndStats = (
  pool: pg.Pool,
  clock: TrustedClock,
  kept: Kept,
  log: Pick<Logger, 'warn'>,
): WorkLoop =>
  repeatedWork(
    'webhooks.notice-sweep',
    EVERY_MS,
    async () => forgetNoticesAndStats(pool, await clock.now(), kept),
    log,
  );

/** @param now milliseconds since the epoch */
export const forgetNoticesAndStats = async (pool: pg.Pool, now: number, kept: Kept): Promise<void> => {
  const daysAgo = (days: number): string => instant(now - days * DAY_MS);
  await pool.query(
    'delete from webhooks.notice where occurred_at < case when livemode then $1 else $2 end::timestamptz',
    [daysAgo(kept.WEBHOOK_NOTICES_KEPT_DAYS), daysAgo(kept.TEST_DATA_KEPT_DAYS)],
  );
  await pool.query('delete from webhooks.endpoint_hour where hour < $1', [
    daysAgo(kept.WEBHOOK_STATS_KEPT_DAYS),
  ]);
};
