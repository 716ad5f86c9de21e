import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { repeatedWork } from '@app/platform/work/repeated-work.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { Config } from '../../settings.js';
import { whenLocked } from '../settled/partitions.js';

const EVERY_MS = 3_600_000;
const AT_ONCE = 5_000;
/** For other work between statements. */
const PAUSE_MS = 50;
const DAY_MS = 86_400_000;

/** Of weeks without a partition: what was settled long before the history began. */
const FORGET_OTHERS = `
  delete from webhooks.settled_delivery_other where ctid = any (array(
    select ctid from webhooks.settled_delivery_other where settled_at < $1 limit ${AT_ONCE}))`;

/**
 * Deletes settled deliveries, with their attempts, WEBHOOK_DELIVERIES_KEPT_DAYS after they were settled: whole weeks, so up to
 * seven days later. Any number of workers may run it at once.
 */
export const forgetDeliveries = (
  pool: pg.Pool,
  clock: TrustedClock,
  { WEBHOOK_DELIVERIES_KEPT_DAYS: days }: Pick<Config, 'WEBHOOK_DELIVERIES_KEPT_DAYS'>,
  log: Pick<Logger, 'warn' | 'info'>,
): WorkLoop =>
  repeatedWork(
    'webhooks.delivery-retention',
    EVERY_MS,
    async (signal) => {
      const before = (await clock.now()) - days * DAY_MS;
      for (let partition; (partition = await dropPartition(pool, before, signal)) !== null;)
        log.info({ partition }, 'old webhook deliveries dropped');
      while (!signal.aborted && (await forgetOthers(pool, before)) === AT_ONCE)
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    },
    log,
  );

/** @returns its name; `null`: none ended before */
const dropPartition = async (pool: pg.Pool, before: number, signal: AbortSignal): Promise<string | null> => {
  const { rows } = await whenLocked(signal, () =>
    pool.query<{ partition: string | null }>('select webhooks.drop_partition($1) as partition', [
      instant(before),
    ]),
  );
  return signal.aborted ? null : rows[0]!.partition;
};

const forgetOthers = async (pool: pg.Pool, before: number): Promise<number> =>
  (await pool.query(FORGET_OTHERS, [instant(before)])).rowCount ?? 0;
