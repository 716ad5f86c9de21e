import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import {
  DAY_MS,
  type Held,
  type Retention,
  retentionStatus,
  runRetention,
} from '#platform/retention/retention.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';
import { heldRows, inSteps, type RowsByAge } from '#platform/retention/rows.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG } from '#platform/tokens.js';
import type { Config } from '../settings.js';
import { LookAtWebhookRetention, RunWebhookRetention } from '../contracts/index.js';

const EVERY_MS = 3_600_000;
/** Partitions exist this long before the first delivery of their week is settled. */
const AHEAD_MS = 28 * 86_400_000;
/** The functions of the migration wait 150 ms for a lock; sending waits behind them. In between, it catches up. */
const TRIES = 50;
const BETWEEN_TRIES_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes the partitions of the coming weeks. Without it for four weeks, the net takes what is settled. */
export const makePartitions = (pool: pg.Pool, clock: TrustedClock, log: Pick<Logger, 'warn'>): WorkLoop =>
  repeatedWork(
    'webhooks.partitions',
    EVERY_MS,
    async (signal) => {
      const now = await clock.now();
      await whenLocked(signal, () =>
        pool.query('select webhooks.add_partitions($1, $2)', [instant(now), instant(now + AHEAD_MS)]),
      );
    },
    log,
  );

/** Repeats a change of the partitions that others were in the way of. @throws its last error */
export const whenLocked = async <T>(
  signal: AbortSignal,
  change: () => Promise<T>,
  betweenTriesMs = BETWEEN_TRIES_MS,
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      const isLocked = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
      if (!isLocked || tries === TRIES || signal.aborted) throw error;
      await delay(betweenTriesMs, undefined, { signal }).catch(() => undefined);
    }
  }
};

const AT_ONCE = 5_000;
const WEEK_MS = 7 * DAY_MS;
/** A Monday. */
const FIRST_WEEK_MS = Date.parse('1970-01-05T00:00:00Z');

/** SQL: deletes rows of a table that are older than $1, in any order; at most AT_ONCE. */
const forgetRows = ({ table, at }: RowsByAge): string => `
  delete from ${table} where ctid = any (array(select ctid from ${table} where ${at} < $1 limit ${AT_ONCE}))`;

/** Of weeks without a partition: what was settled long before the history began. */
const OTHERS = { table: 'webhooks.settled_delivery_other', at: 'settled_at' };

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

/** Settled deliveries, with attempts: whole weeks, so up to seven days later than WEBHOOK_DELIVERIES_KEPT_DAYS. */
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
  async forget(before, signal) {
    const weeks = new Map((await weeksOf(pool)).map(({ name, estimated }) => [name, estimated]));
    let removed = 0;
    for (let week; (week = await dropWeek(pool, before, signal)) !== null;) removed += weeks.get(week) ?? 0;
    const forgetOthers = async () => (await pool.query(forgetRows(OTHERS), [instant(before)])).rowCount ?? 0;
    removed += await inSteps(AT_ONCE, signal, forgetOthers);
    return { removed, keptSince: beginOfWeek(before) };
  },
});

/** The Monday, 00:00 UTC, at or before an instant. */
const beginOfWeek = (at: number): number => at - ((((at - FIRST_WEEK_MS) % WEEK_MS) + WEEK_MS) % WEEK_MS);

const weeksOf = async (pool: pg.Pool): Promise<readonly Week[]> => (await pool.query<Week>(WEEKS)).rows;

/** @returns the name of the partition that was dropped; `null`: none ended before */
const dropWeek = async (pool: pg.Pool, before: number, signal: AbortSignal): Promise<string | null> => {
  if (signal.aborted) return null;
  const text = 'select webhooks.drop_partition($1) as partition';
  const { rows } = await whenLocked(signal, () =>
    pool.query<{ partition: string | null }>(text, [instant(before)]),
  );
  return rows[0]!.partition;
};

/** The oldest of a week counts from the week's beginning: no index has the times of its deliveries. */
const held = async (pool: pg.Pool, before: number): Promise<Held> => {
  const weeks = await weeksOf(pool);
  const due = weeks.filter(({ begins }) => begins.getTime() + WEEK_MS <= before);
  const others = await heldRows(pool, OTHERS, before);
  const oldest = [others.oldest, await firstFilled(pool, weeks)].filter((one) => one !== null);
  const sum = (of: (week: Week) => number): number => due.reduce((total, week) => total + of(week), 0);
  const rows = others.due.rows + sum(({ estimated }) => estimated);
  const bytes = others.due.bytes + sum((week) => week.bytes);
  const partitions = due.length;
  return { oldest: oldest.length === 0 ? null : Math.min(...oldest), due: { rows, bytes, partitions } };
};

const firstFilled = async (pool: pg.Pool, weeks: readonly Week[]): Promise<number | null> => {
  for (const { name, begins } of weeks) {
    const { rowCount } = await pool.query(`select from webhooks.${name} limit 1`);
    if (rowCount === 1) return begins.getTime();
  }
  return null;
};

const EVENTS_AT_ONCE = 500;

/**
 * SQL: one step. Deletes what `old` selects, oldest first, with its deliveries and attempts. Notes what is gone of the feed,
 * and the number of the last event of each reading, so that the fan-out makes none again and continues the numbers. Two
 * processes take different rows. $1: the end of the term.
 * @param old selects event_id, workspace_id, reading_id, type, sequence, position and livemode
 * @param last deletes the rows themselves, by `old`
 */
const forget = (old: string, last: string): string => `
  with old as materialized (
    ${old} limit ${EVENTS_AT_ONCE} for update skip locked
  ), of_old as materialized (
    select endpoint.endpoint_id, old.event_id from old join webhooks.endpoint using (workspace_id)
  ), deliveries as (
    delete from webhooks.delivery using of_old
    where delivery.endpoint_id = of_old.endpoint_id and delivery.event_id = of_old.event_id
    returning delivery_id
  ), attempts as (
    delete from webhooks.attempt using deliveries where attempt.delivery_id = deliveries.delivery_id
  ), settled as (
    delete from webhooks.settled_delivery settled using old where settled.event_id = old.event_id
  ), numbered as (
    insert into webhooks.last_sequence as known (reading_id, sequence)
    select reading_id, max(sequence) from old where reading_id is not null and position is not null
    group by reading_id order by reading_id
    on conflict (reading_id) do update set sequence = greatest(known.sequence, excluded.sequence)
  ), past as (
    insert into webhooks.deleted_past as known (workspace_id, livemode, type, position, until)
    select workspace_id, livemode, type, max(position), $1::timestamptz from old where position is not null
    group by workspace_id, livemode, type order by workspace_id, livemode, type
    on conflict (workspace_id, livemode, type) do update
    set position = greatest(known.position, excluded.position), until = greatest(known.until, excluded.until)
  ) ${last}`;

const TERM = { live: 'WEBHOOK_EVENTS_KEPT_DAYS', test: 'TEST_DATA_KEPT_DAYS' } as const;

/** The condition of the index of their ages. Events of test readings include trials. */
const EVENTS = {
  live: 'livemode and reading_id is not null',
  test: 'not livemode and reading_id is not null',
} as const;

const retention = (
  pool: pg.Pool,
  named: Pick<Retention, 'kind' | 'what' | 'setting' | 'days'>,
  rows: RowsByAge,
  atOnce: number,
  statement: string,
): Retention => ({
  ...named,
  graceDays: 0,
  held: (before) => heldRows(pool, rows, before),
  async forget(before, signal) {
    const step = async () => (await pool.query(statement, [instant(before)])).rowCount ?? 0;
    return { removed: await inSteps(atOnce, signal, step), keptSince: before };
  },
});

type OfMode = Pick<Retention, 'kind' | 'what' | 'days'>;

/** Public events of a mode, with their deliveries. A delivery ends with its event at the latest. */
const eventRetention = (pool: pg.Pool, mode: 'live' | 'test', named: OfMode): Retention =>
  retention(
    pool,
    { ...named, setting: TERM[mode] },
    { table: 'webhooks.public_event', at: 'occurred_at', where: EVENTS[mode] },
    EVENTS_AT_ONCE,
    forget(
      `select event_id, workspace_id, reading_id, type, sequence, position, livemode from webhooks.public_event
       where ${EVENTS[mode]} and occurred_at < $1 order by occurred_at`,
      `, failures as (
         delete from webhooks.unreleased_failure where livemode = ${mode === 'live'} and occurred_at < $1
       )
       delete from webhooks.public_event event using old where event.event_id = old.event_id`,
    ),
  );

/**
 * Days for which the row of a notice stays at least. The looks find what ends within 14 days and what happened in the last
 * 7, and the row is the memory that it was told. The least of WEBHOOK_EVENTS_KEPT_DAYS is longer.
 */
export const MIN_NOTICE_DAYS = 15;

/** Notices of a mode, with their deliveries. */
const noticeRetention = (pool: pg.Pool, mode: 'live' | 'test', named: OfMode): Retention => {
  const where = `livemode = ${mode === 'live'}`;
  return retention(
    pool,
    { ...named, setting: TERM[mode] },
    { table: 'webhooks.notice', at: 'occurred_at', where },
    EVENTS_AT_ONCE,
    forget(
      `select event_id, workspace_id, null::uuid as reading_id, type, 0 as sequence, position, livemode
       from webhooks.notice where ${where} and occurred_at < $1 order by occurred_at`,
      `, events as (
         delete from webhooks.public_event event using old where event.event_id = old.event_id
       )
       delete from webhooks.notice told using old where told.event_id = old.event_id`,
    ),
  );
};

/** What of webhooks ends after a term. */
export const webhookRetentions = (
  pool: pg.Pool,
  terms: Pick<Config, 'WEBHOOK_DELIVERIES_KEPT_DAYS' | 'WEBHOOK_EVENTS_KEPT_DAYS' | 'TEST_DATA_KEPT_DAYS'>,
): readonly Retention[] => {
  const { WEBHOOK_EVENTS_KEPT_DAYS: live, TEST_DATA_KEPT_DAYS: test } = terms;
  const testNotices = Math.max(MIN_NOTICE_DAYS, test);
  return [
    deliveryRetention(pool, terms),
    eventRetention(pool, 'live', { kind: 'events', what: 'events of live readings', days: live }),
    eventRetention(pool, 'test', {
      kind: 'test-events',
      what: 'events of test readings, with their deliveries',
      days: test,
    }),
    noticeRetention(pool, 'live', { kind: 'notices', what: 'notices of live mode', days: live }),
    noticeRetention(pool, 'test', { kind: 'test-notices', what: 'notices of test mode', days: testNotices }),
    retention(
      pool,
      { kind: 'stats', what: 'hourly sums of attempts', setting: null, days: STATS_KEPT_DAYS },
      SUMS,
      AT_ONCE,
      forgetRows(SUMS),
    ),
  ];
};

const SUMS = { table: 'webhooks.endpoint_hour', at: 'hour' };
/** Days for which the hourly sums of attempts are kept: more than the month that anybody can ask for. */
const STATS_KEPT_DAYS = 35;

@QueryHandler(LookAtWebhookRetention)
class LookAtWebhookRetentionHandler implements IQueryHandler<LookAtWebhookRetention> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async execute({ now }: LookAtWebhookRetention): Promise<readonly RetentionStatus[]> {
    const retentions = webhookRetentions(this.pool, this.config);
    return Promise.all(retentions.map((one) => retentionStatus(this.pool, one, now)));
  }
}

@CommandHandler(RunWebhookRetention)
class RunWebhookRetentionHandler implements ICommandHandler<RunWebhookRetention> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async execute({ now, kinds }: RunWebhookRetention): Promise<readonly RetentionRun[]> {
    const never = new AbortController().signal;
    const runs: RetentionRun[] = [];
    for (const one of webhookRetentions(this.pool, this.config)) {
      if (kinds !== null && !kinds.includes(one.kind)) continue;
      const run = await runRetention(this.pool, one, now, never);
      if (run !== null) runs.push(run);
    }
    return runs;
  }
}

export const RETENTION_HANDLERS = [LookAtWebhookRetentionHandler, RunWebhookRetentionHandler];
