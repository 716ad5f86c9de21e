import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import type { Retention } from '#platform/retention/retention.js';
import { heldRows, inSteps, type RowsByAge } from '#platform/retention/rows.js';

const AT_ONCE = 500;

/**
 * SQL: one step. Deletes what `old` selects, oldest first, with its deliveries and attempts. Notes what is gone of the feed,
 * and the number of the last event of each reading, so that the fan-out makes none again and continues the numbers. Two
 * processes take different rows. $1: the end of the term.
 * @param old selects event_id, workspace_id, reading_id, type, sequence, position and livemode
 * @param last deletes the rows themselves, by `old`
 */
const forget = (old: string, last: string): string => `
  with old as materialized (
    ${old} limit ${AT_ONCE} for update skip locked
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

const FORGET_EVENTS = (mode: keyof typeof EVENTS): string =>
  forget(
    `select event_id, workspace_id, reading_id, type, sequence, position, livemode from webhooks.public_event
     where ${EVENTS[mode]} and occurred_at < $1 order by occurred_at`,
    `, failures as (
       delete from webhooks.unreleased_failure where livemode = ${mode === 'live'} and occurred_at < $1
     )
     delete from webhooks.public_event event using old where event.event_id = old.event_id`,
  );

const FORGET_NOTICES = (mode: keyof typeof EVENTS): string =>
  forget(
    `select event_id, workspace_id, null::uuid as reading_id, type, 0 as sequence, position, livemode from webhooks.notice
     where livemode = ${mode === 'live'} and occurred_at < $1 order by occurred_at`,
    `, events as (
       delete from webhooks.public_event event using old where event.event_id = old.event_id
     )
     delete from webhooks.notice told using old where told.event_id = old.event_id`,
  );

const retention = (
  pool: pg.Pool,
  named: Pick<Retention, 'kind' | 'what' | 'setting' | 'days'>,
  rows: RowsByAge,
  ...statements: readonly string[]
): Retention => ({
  ...named,
  graceDays: 0,
  held: (before) => heldRows(pool, rows, before),
  async forget(before, signal, onStep) {
    let removed = 0;
    for (const statement of statements) {
      const step = async () => (await pool.query(statement, [instant(before)])).rowCount ?? 0;
      removed += await inSteps(AT_ONCE, signal, step, onStep);
    }
    return { removed, keptSince: before };
  },
});

/** Public events of a mode, with their deliveries. A delivery ends with its event at the latest. */
export const eventRetention = (pool: pg.Pool, mode: 'live' | 'test', days: number): Retention =>
  retention(
    pool,
    {
      kind: mode === 'live' ? 'events' : 'test-events',
      what: mode === 'live' ? 'events of live readings' : 'events of test readings, with their deliveries',
      setting: TERM[mode],
      days,
    },
    { table: 'webhooks.public_event', at: 'occurred_at', where: EVENTS[mode] },
    FORGET_EVENTS(mode),
  );

/** Notices of a mode, with their deliveries. */
export const noticeRetention = (pool: pg.Pool, mode: 'live' | 'test', days: number): Retention =>
  retention(
    pool,
    {
      kind: mode === 'live' ? 'notices' : 'test-notices',
      what: mode === 'live' ? 'notices of live mode' : 'notices of test mode',
      setting: mode === 'live' ? 'WEBHOOK_NOTICES_KEPT_DAYS' : TERM.test,
      days,
    },
    { table: 'webhooks.notice', at: 'occurred_at', where: `livemode = ${mode === 'live'}` },
    FORGET_NOTICES(mode),
  );
