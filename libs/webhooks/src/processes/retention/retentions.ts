import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import type { Retention } from '#platform/retention/retention.js';
import { heldRows, inSteps } from '#platform/retention/rows.js';
import { LEAST_NOTICE_DAYS, type Config } from '../../settings.js';
import { deliveryRetention } from './delivery-retention.js';
import { eventRetention, noticeRetention } from './event-retention.js';

type Terms = Pick<
  Config,
  | 'WEBHOOK_DELIVERIES_KEPT_DAYS'
  | 'WEBHOOK_EVENTS_KEPT_DAYS'
  | 'WEBHOOK_NOTICES_KEPT_DAYS'
  | 'WEBHOOK_STATS_KEPT_DAYS'
  | 'TEST_DATA_KEPT_DAYS'
>;

/** What of webhooks ends after a term. */
export const webhookRetentions = (pool: pg.Pool, terms: Terms): readonly Retention[] => [
  deliveryRetention(pool, terms),
  eventRetention(pool, 'live', terms.WEBHOOK_EVENTS_KEPT_DAYS),
  eventRetention(pool, 'test', terms.TEST_DATA_KEPT_DAYS),
  noticeRetention(pool, 'live', terms.WEBHOOK_NOTICES_KEPT_DAYS),
  noticeRetention(pool, 'test', Math.max(LEAST_NOTICE_DAYS, terms.TEST_DATA_KEPT_DAYS)),
  statsRetention(pool, terms.WEBHOOK_STATS_KEPT_DAYS),
];

const SUMS_AT_ONCE = 5_000;
const FORGET_SUMS = `
  delete from webhooks.endpoint_hour where ctid = any (array(
    select ctid from webhooks.endpoint_hour where hour < $1 limit ${SUMS_AT_ONCE}))`;

const statsRetention = (pool: pg.Pool, days: number): Retention => ({
  kind: 'stats',
  what: 'hourly sums of attempts',
  setting: 'WEBHOOK_STATS_KEPT_DAYS',
  days,
  graceDays: 0,
  held: (before) => heldRows(pool, { table: 'webhooks.endpoint_hour', at: 'hour' }, before),
  async forget(before, signal, onStep) {
    const step = async () => (await pool.query(FORGET_SUMS, [instant(before)])).rowCount ?? 0;
    return { removed: await inSteps(SUMS_AT_ONCE, signal, step, onStep), keptSince: before };
  },
});
