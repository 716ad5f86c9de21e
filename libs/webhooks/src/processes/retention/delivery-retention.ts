import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { DAY_MS, type Held, type Retention } from '#platform/retention/retention.js';
import { heldRows, inSteps } from '#platform/retention/rows.js';
import type { Config } from '../../settings.js';
import { whenLocked } from '../settled/partitions.js';

const AT_ONCE = 5_000;
const WEEK_MS = 7 * DAY_MS;
/** A Monday. */
const FIRST_WEEK_MS = Date.parse('1970-01-05T00:00:00Z');

/** Of weeks without a partition: what was settled long before the history began. */
const FORGET_OTHERS = `
  delete from webhooks.settled_delivery_other where ctid = any (array(
    select ctid from webhooks.settled_delivery_other where settled_at < $1 limit ${AT_ONCE}))`;

/** Attempts that earlier versions left in the queue when they skipped their delivery at the moment of an outcome. */
const FORGET_LEFT_BEHIND = `
  delete from webhooks.attempt where ctid = any (array(
    select ctid from webhooks.attempt
    where started_at < $1
      and not exists (select from webhooks.delivery where delivery.delivery_id = attempt.delivery_id)
    limit ${AT_ONCE}))`;

/** Partitions of weeks, the oldest first, with the beginning of each. */
const WEEKS = `
  select relname as name, to_date(substr(relname, 18), 'IYYY"w"IW')::timestamp at time zone 'UTC' as begins,
         pg_total_relation_size(pg_class.oid)::float8 as bytes, greatest(reltuples, 0)::float8 as estimated
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'webhooks.settled_delivery'::regclass and relname ~ '^settled_delivery_\\d{4}w\\d\\d$'
  order by relname`;

interface Week {
  readonly name: string;
  readonly begins: Date;
  readonly bytes: number;
  /** Rows, as PostgreSQL last counted them. */
  readonly estimated: number;
}

/**
 * Settled deliveries, with their attempts, WEBHOOK_DELIVERIES_KEPT_DAYS after they were settled: whole weeks, so up to seven
 * days later.
 */
export const deliveryRetention = (
  pool: pg.Pool,
  { WEBHOOK_DELIVERIES_KEPT_DAYS: days }: Pick<Config, 'WEBHOOK_DELIVERIES_KEPT_DAYS'>,
): Retention => ({
  kind: 'deliveries',
  what: 'settled deliveries, with their attempts',
  setting: 'WEBHOOK_DELIVERIES_KEPT_DAYS',
  days,
  graceDays: 7,
  held: (before) => held(pool, before),
  async forget(before, signal, onStep) {
    const weeks = new Map((await weeksOf(pool)).map(({ name, estimated }) => [name, estimated]));
    let removed = 0;
    for (let week; (week = await dropWeek(pool, before, signal)) !== null;) {
      removed += weeks.get(week) ?? 0;
      await onStep(weeks.get(week) ?? 0);
    }
    for (const forgetSome of [FORGET_OTHERS, FORGET_LEFT_BEHIND])
      removed += await inSteps(
        AT_ONCE,
        signal,
        async () => (await pool.query(forgetSome, [instant(before)])).rowCount ?? 0,
        onStep,
      );
    return { removed, keptSince: beginOfWeek(before) };
  },
});

/** The Monday, 00:00 UTC, at or before an instant. */
const beginOfWeek = (at: number): number => at - ((((at - FIRST_WEEK_MS) % WEEK_MS) + WEEK_MS) % WEEK_MS);

const weeksOf = async (pool: pg.Pool): Promise<readonly Week[]> => (await pool.query<Week>(WEEKS)).rows;

/** @returns the name of the partition that was dropped; `null`: none ended before */
const dropWeek = async (pool: pg.Pool, before: number, signal: AbortSignal): Promise<string | null> => {
  if (signal.aborted) return null;
  const { rows } = await whenLocked(signal, () =>
    pool.query<{ partition: string | null }>('select webhooks.drop_partition($1) as partition', [
      instant(before),
    ]),
  );
  return rows[0]!.partition;
};

/** The oldest of a week counts from the week's beginning: no index has the times of its deliveries. */
const held = async (pool: pg.Pool, before: number): Promise<Held> => {
  const weeks = await weeksOf(pool);
  const due = weeks.filter(({ begins }) => begins.getTime() + WEEK_MS <= before);
  const others = await heldRows(pool, { table: 'webhooks.settled_delivery_other', at: 'settled_at' }, before);
  const oldest = [others.oldest, await firstFilled(pool, weeks)].filter((one) => one !== null);
  const sum = (of: (week: Week) => number): number => due.reduce((total, week) => total + of(week), 0);
  return {
    oldest: oldest.length === 0 ? null : Math.min(...oldest),
    due: {
      rows: others.due.rows + sum(({ estimated }) => estimated),
      bytes: others.due.bytes + sum(({ bytes }) => bytes),
      partitions: due.length,
    },
  };
};

const firstFilled = async (pool: pg.Pool, weeks: readonly Week[]): Promise<number | null> => {
  for (const { name, begins } of weeks) {
    const { rowCount } = await pool.query(`select from webhooks.${name} limit 1`);
    if (rowCount === 1) return begins.getTime();
  }
  return null;
};
