import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { randomUUID } from 'node:crypto';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { isUuid } from '#platform/text/uuid.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import { addJob, handleJobs, jobKind, type JobTask } from '#platform/jobs/job.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { CLOCK } from '#platform/tokens.js';
import { asRecord } from '#platform/postgres/as-record.js';
import {
  ALL_DELIVERIES,
  EVENT_OUTCOME,
  NEVER_ATTEMPTED,
  LOCK_ENDPOINT,
} from '../read-models/delivery-sql.js';
import { GetReplay, type ReplayRecord, ReplayEvents, UNDELIVERED_STATUSES } from '../contracts/index.js';
import { deletedPast } from '../read-models/event-feed.js';
import { Endpoints } from './endpoints.js';
import { serialized, withAdvisoryLock } from './serialized.js';

const SELECT = `
  select replay_id as "replayId", endpoint_id as "endpointId", since, until, types, statuses, modes, dry_run as "dryRun",
         state, events,
         (case when state in ('finished', 'stopped') then 1
               else coalesce(position / greatest(last_position, 1), 0) end)::float8 as progress,
         (select coalesce(json_object_agg(status, count), '{}')
          from (select status, count(*)::integer from ${ALL_DELIVERIES} where delivery.replay_id = replay.replay_id
                group by status) counted) as deliveries,
         created_at as "createdAt", finished_at as "finishedAt"
  from webhooks.replay`;

const NONE = { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 };

@QueryHandler(GetReplay)
export class ReplayRows implements IQueryHandler<GetReplay> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ endpointId, replayId }: GetReplay): Promise<ReplayRecord | null> {
    return this.find(endpointId, replayId);
  }

  /** A replay of this endpoint that sends events of these modes alone; `null`: there is none with this id. */
  async find(
    endpointId: string,
    replayId: string,
    sees: readonly Mode[] = MODES,
  ): Promise<ReplayRecord | null> {
    if (!isUuid(replayId)) return null;
    const where = 'replay_id = $1 and endpoint_id = $2 and modes <@ $3';
    // Its deliveries are counted: there may be hundreds of thousands.
    return serialized(endpointId, undefined, () => first(this.pool, where, [replayId, endpointId, sees]));
  }

  /** Ends a replay, after the page in progress. The job then finds nothing more to do. */
  async stop(endpointId: string, replayId: string, sees: readonly Mode[]): Promise<ReplayRecord | null> {
    if (isUuid(replayId))
      await this.pool.query(
        `update webhooks.replay set state = 'stopped', finished_at = $4, updated_at = $4
         where replay_id = $1 and endpoint_id = $2 and modes <@ $3 and state in ('queued', 'running')`,
        [replayId, endpointId, sees, instant(this.clock.now())],
      );
    return this.find(endpointId, replayId, sees);
  }
}

const first = async (
  connection: Pick<pg.Pool | pg.PoolClient, 'query'>,
  where: string,
  values: readonly unknown[],
): Promise<ReplayRecord | null> => {
  const { rows } = await connection.query<object>(`${SELECT} where ${where}`, [...values]);
  if (!rows[0]) return null;
  const record = asRecord<ReplayRecord>(rows[0]);
  return { ...record, deliveries: { ...NONE, ...record.deliveries } };
};

const REPLAY_EVENTS = jobKind('webhooks.replay', z.object({ replayId: z.string() }));

const PAGE = 1_000;
/** A replay without progress for this long has lost its worker, or waits. */
const ABANDONED_AFTER_MS = 30_000;
/** A replay without progress for so long (ms) is stopped, so that another can start. */
const GIVE_UP_AFTER_MS = 86_400_000;
const RESCUE_EVERY_MS = 10_000;
/** How long a job works before it yields its job slot: readings wait for as long when replays have every slot. */
const TIME_SLICE_MS = 200;
/** After generation and publication, whose jobs have 0. */
const PRIORITY = 10;
/** How long a finished replay can be looked up. Its Idempotency-Key is remembered equally long. */
const KEPT_FOR_MS = 30 * 86_400_000;
const FORGET_AT_ONCE = 1_000;

const enqueue = async (
  connection: Pick<pg.Pool | pg.PoolClient, 'query'>,
  replayId: string,
): Promise<void> => {
  const { text, values } = addJob(
    REPLAY_EVENTS,
    { replayId },
    { key: `${REPLAY_EVENTS.task}:${replayId}`, priority: PRIORITY },
  );
  await connection.query(text, values as unknown[]);
};

/**
 * One page. The outcome of each event at the endpoint decides whether it is chosen; a real run then inserts its
 * delivery. A dry run differs only in not inserting, so both choose the same events.
 *
 * Deliveries of one page are due a microsecond apart, in log order. One that must wait for an earlier one of its reading is
 * due when that is: the dispatcher need not read it before. Pending deliveries are never chosen. Deliveries that an earlier
 * replay left unsent are replaced, so successive replays add no more than is sent. The lock keeps events from being deleted
 * meanwhile.
 */
const REPLAY_PAGE = `
  with replay as (
    select * from webhooks.replay where replay_id = $1
  ), page as (
    select event.* from replay cross join lateral (
      select event_id, reading_id, type, sequence, occurred_at, livemode, event.position
      from webhooks.public_event event
      where event.workspace_id = replay.workspace_id and event.position > coalesce(replay.position, -1)
        and event.position <= replay.last_position
      order by event.position
      limit ${PAGE}
      for key share
    ) event
  ), chosen as (
    select page.*, row_number() over (order by page.position) as place
    from page cross join replay
    cross join lateral (
      select ${EVENT_OUTCOME} as outcome
      from ${ALL_DELIVERIES}
      where delivery.endpoint_id = replay.endpoint_id and delivery.event_id = page.event_id
    ) found
    where page.occurred_at >= replay.since and page.occurred_at < replay.until
      and page.type = any (replay.types)
      and case when page.livemode then 'live' else 'test' end = any (replay.modes) and found.outcome = any (replay.statuses)
  ), unsent as (
    delete from webhooks.settled_delivery unsent using chosen, replay
    where not replay.dry_run and unsent.endpoint_id = replay.endpoint_id and unsent.event_id = chosen.event_id
      and unsent.replay_id <> replay.replay_id and ${NEVER_ATTEMPTED}
  ), inserted as (
    insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                   replay_id, created_at)
    select webhooks.delivery_id(replay.endpoint_id, chosen.event_id || '|' || replay.replay_id, replay.created_at),
           replay.endpoint_id, replay.workspace_id, chosen.event_id, chosen.reading_id, chosen.sequence, 'pending',
           greatest($2::timestamptz + chosen.place * interval '1 microsecond', waiting.due_at), replay.replay_id, $2
    from chosen cross join replay
    left join lateral (
      select max(due_at) as due_at from webhooks.delivery earlier
      where earlier.endpoint_id = replay.endpoint_id and earlier.reading_id = chosen.reading_id
        and earlier.sequence < chosen.sequence and earlier.status = 'pending' and not earlier.redelivery
    ) waiting on true
    where not replay.dry_run
    on conflict (delivery_id) do nothing
  )
  update webhooks.replay
  set position = coalesce((select max(position) from page), position),
      events = events + (select count(*) from chosen),
      state = case when (select count(*) from page) < ${PAGE} then 'finished' else 'running' end,
      finished_at = case when (select count(*) from page) < ${PAGE} then $2::timestamptz end,
      updated_at = $2
  where replay_id = $1
  returning state, workspace_id`;

/** Works through a replay, a transaction per page. When the time slice is over, the job adds itself behind the waiting ones. */
export const replayTask = (pool: pg.Pool, clock: Clock): JobTask =>
  handleJobs(REPLAY_EVENTS, async ({ replayId }, signal) => {
    const endsAt = performance.now() + TIME_SLICE_MS;
    while (await replayPage(pool, replayId, instant(clock.now()))) {
      // Throwing returns the job to the queue for another worker.
      signal.throwIfAborted();
      if (performance.now() < endsAt) continue;
      return enqueue(pool, replayId);
    }
  });

/** While deliveries are being skipped, outcomes are unknown: the rescue continues it. @returns whether there is more to do now */
const replayPage = (pool: pg.Pool, replayId: string, at: string): Promise<boolean> =>
  transaction(pool, async (client) => {
    const { rows } = await client.query<{ endpoint_id: string; dry_run: boolean; modes: readonly Mode[] }>(
      `select endpoint_id, dry_run, modes from webhooks.replay
       where replay_id = $1 and state in ('queued', 'running') for update`,
      [replayId],
    );
    const [open] = rows;
    if (!open) return false;
    const locked = await client.query<{ is_open: boolean; modes: readonly Mode[] }>(LOCK_ENDPOINT, [
      open.endpoint_id,
    ]);
    // A separate statement sees notes committed before the lock.
    const noted = await client.query('select from webhooks.skipping where endpoint_id = $1', [
      open.endpoint_id,
    ]);
    if (noted.rowCount !== 0) return false;
    // An endpoint without a row is new and not projected yet.
    const [endpoint = { is_open: true, modes: open.modes }] = locked.rows;
    const receives = endpoint.is_open && open.modes.every((mode) => endpoint.modes.includes(mode));
    if (!receives && !open.dry_run) {
      await client.query(
        `update webhooks.replay set state = 'stopped', finished_at = $2, updated_at = $2 where replay_id = $1`,
        [replayId, at],
      );
      return false;
    }
    const moved = await client.query<{ state: string; workspace_id: string }>(REPLAY_PAGE, [replayId, at]);
    const { state, workspace_id: workspaceId } = moved.rows[0]!;
    await client.query(`select pg_notify('webhooks_due', $1)`, [workspaceId]);
    return state === 'running';
  });

/** Adds jobs of stalled replays again, since the queue keeps a killed worker's for hours. Stops and deletes old replays. */
export const rescueReplays = (pool: pg.Pool, clock: Clock, log: Pick<Logger, 'warn'>): WorkLoop =>
  repeatedWork(
    `${REPLAY_EVENTS.task}.rescue`,
    RESCUE_EVERY_MS,
    async () => {
      await rescueAbandoned(pool, clock.now());
      await forgetEnded(pool, clock.now());
    },
    log,
  );

/** @param now milliseconds since the epoch */
export const rescueAbandoned = async (pool: pg.Pool, now: number): Promise<void> => {
  await pool.query(
    `update webhooks.replay set state = 'stopped', finished_at = $2, updated_at = $2
     where state in ('queued', 'running') and updated_at < $1`,
    [instant(now - GIVE_UP_AFTER_MS), instant(now)],
  );
  const { rows } = await pool.query<{ replay_id: string }>(
    `select replay_id from webhooks.replay where state in ('queued', 'running') and updated_at < $1
     order by updated_at limit 100`,
    [instant(now - ABANDONED_AFTER_MS)],
  );
  for (const { replay_id: replayId } of rows) await enqueue(pool, replayId);
};

/** @param now milliseconds since the epoch */
const forgetEnded = async (pool: pg.Pool, now: number): Promise<void> => {
  await pool.query(
    `delete from webhooks.replay where replay_id in (
       select replay_id from webhooks.replay where finished_at < $1 order by finished_at limit ${FORGET_AT_ONCE})`,
    [instant(now - KEPT_FOR_MS)],
  );
};

/** Dry runs that may wait for each endpoint: each reads the whole span again. */
const DRY_RUNS_PER_ENDPOINT = 10;

@CommandHandler(ReplayEvents)
export class ReplayEventsHandler implements ICommandHandler<ReplayEvents> {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly rows: ReplayRows,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, choice, idempotencyKey: given, stands }: ReplayEvents) {
    const found = await this.endpoints.findFor(endpointId, { workspaceId, sees: choice.modes ?? MODES });
    if (found.outcome !== 'found') return found;
    const endpoint = found.record;
    const idempotencyKey = keyOf(given, choice.modes ?? MODES);
    const at = instant(this.clock.now());
    const { since, dryRun } = choice;
    const until = choice.until ?? at;
    const types = choice.types ?? endpoint.events;
    const statuses = choice.statuses ?? UNDELIVERED_STATUSES;
    const modes = endpoint.modes.filter((mode) => choice.modes?.includes(mode) ?? true);
    const past = await deletedPast(this.pool, workspaceId, types, modes);
    const replayId = randomUUID();
    const answer = await withAdvisoryLock(this.pool, { workspaceId, stands }, endpointId, async (client) => {
      const known = await first(client, 'endpoint_id = $1 and idempotency_key = $2', [
        endpointId,
        idempotencyKey,
      ]);
      if (known) return again(known, choice);
      if (!endpoint.enabled && !dryRun) return { outcome: 'endpoint_disabled' } as const;
      if (past !== null && since < past.keptSince)
        return { outcome: 'no_longer_kept', keptSince: past.keptSince, field: '/since' } as const;
      const runs = await inTheWay(client, endpointId, { dryRun, modes });
      if (runs !== null) return { outcome: 'replay_in_progress', endpointId, replayId: runs } as const;
      await client.query(
        `insert into webhooks.replay (replay_id, endpoint_id, workspace_id, since, until, types, statuses, modes, dry_run, state,
                                      last_position, idempotency_key, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $11, $8, 'queued',
                 (select max(position) from webhooks.public_event where workspace_id = $3), $9, $10, $10)`,
        [replayId, endpointId, workspaceId, since, until, types, statuses, dryRun, idempotencyKey, at, modes],
      );
      await enqueue(client, replayId);
      return null;
    });
    return answer ?? ({ outcome: 'queued', record: (await this.rows.find(endpointId, replayId))! } as const);
  }
}

/** Test keys, and who sees both modes, have keys of their own. No key has a line end. */
const keyOf = (idempotencyKey: string | null, modes: readonly Mode[]): string | null =>
  idempotencyKey === null || modes.join() === 'live' ? idempotencyKey : `${idempotencyKey}\n${modes.join()}`;

/** The oldest unfinished replay in the way of another, if any. Test keys and live keys are not in each other's way. */
const inTheWay = async (
  client: pg.PoolClient,
  endpointId: string,
  { dryRun, modes }: Pick<ReplayRecord, 'dryRun' | 'modes'>,
): Promise<string | null> => {
  const { rows } = await client.query<{ replay_id: string }>(
    `select replay_id from webhooks.replay
     where endpoint_id = $1 and dry_run = $2 and modes && $3 and state in ('queued', 'running')
     order by created_at`,
    [endpointId, dryRun, modes],
  );
  const limit = dryRun ? DRY_RUNS_PER_ENDPOINT : 1;
  return rows.length < limit ? null : (rows[0]?.replay_id ?? null);
};

/** The first response again, if it is the same request that comes again under its key. */
const again = (
  known: ReplayRecord,
  { since, until, types, statuses, modes, dryRun }: ReplayEvents['choice'],
) => {
  const isSame =
    known.since === since &&
    known.dryRun === dryRun &&
    (until === null || known.until === until) &&
    (types === null || sameSet(known.types, types)) &&
    (statuses === null || sameSet(known.statuses, statuses)) &&
    (modes === null || known.modes.every((mode) => modes.includes(mode)));
  if (!isSame) return { outcome: 'different_request' } as const;
  const atFirst = { state: 'queued' as const, events: 0, progress: 0, deliveries: NONE, finishedAt: null };
  return { outcome: 'repeated', record: { ...known, ...atFirst } } as const;
};

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));
