import type pg from 'pg';
import type { Logger } from 'pino';
import type { QueryBus } from '@nestjs/cqrs';
import { instant } from '#event-sourcing/core/clock.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { runSteps, sql } from '#event-sourcing/projections/statement.js';
import { transaction } from '#platform/postgres/pool.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import { FindExpiringGrants, FindLowBalances } from '#billing/contracts/index.js';
import { FindExpiringKeys, LOW_CREDITS_PERCENT } from '#workspaces/contracts/index.js';
import {
  type Finding,
  noticeOfFinding,
  type Notice,
  endpointDisabled,
  endpointFailing,
  replayFinished,
  creditsExpiring,
  creditsLow,
  isLow,
  keyExpiring,
} from '../domain/notice.js';
import { wasTold } from '../read-models/event-feed.js';
import type { Config } from '../settings.js';
import { insertNotices, lockNotices } from './insert-deliveries.js';

/** Looks for what workspaces should be told, page by page. @param now milliseconds since the epoch */
export type Look = (now: number) => AsyncIterable<readonly Finding[]>;

interface NoticeParts {
  readonly pool: pg.Pool;
  readonly clock: TrustedClock;
  readonly config: Pick<Config, 'WEBHOOK_NOTICES_EVERY_MS' | 'WEBHOOK_RETRY_SCHEDULE_MS'>;
  readonly looks: readonly Look[];
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Tells workspaces what the looks find. A look sees what lasts, such as a failing endpoint. So nothing is lost with a
 * process, and two workers that look at once tell it once.
 */
export const watchNotices = (parts: NoticeParts): WorkLoop =>
  repeatedWork(
    'webhooks.notices',
    parts.config.WEBHOOK_NOTICES_EVERY_MS,
    (signal) => noticeRound(parts, signal),
    parts.log,
  );

/** One round over all looks. A look that fails does not keep the others from theirs. @throws the first failure */
export const noticeRound = async (
  { pool, clock, config, looks }: Omit<NoticeParts, 'log'>,
  signal?: AbortSignal,
): Promise<void> => {
  const now = await clock.now();
  const firstPauseMs = config.WEBHOOK_RETRY_SCHEDULE_MS[0] ?? 0;
  const failures: unknown[] = [];
  for (const look of looks) {
    try {
      for await (const findings of look(now)) {
        if (signal?.aborted) return;
        await tell(
          pool,
          findings.map((one) => noticeOfFinding(one, instant(now))),
          firstPauseMs,
        );
      }
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};

/** The decision to tell, the notice and its deliveries commit together. */
const tell = async (pool: pg.Pool, notices: readonly Notice[], firstPauseMs: number): Promise<void> => {
  const fresh = await untold(pool, notices);
  if (fresh.length === 0) return;
  const workspaceIds = [...new Set(fresh.map(({ workspaceId }) => workspaceId))];
  await transaction(pool, (client) =>
    runSteps(client, [lockNotices, lockEndpointsOf(workspaceIds), insertNotices(fresh, firstPauseMs)]),
  );
};

/** Asks before it locks anything: in most rounds everything was told before. */
const untold = async (pool: pg.Pool, notices: readonly Notice[]): Promise<readonly Notice[]> => {
  if (notices.length === 0) return [];
  const column = <K extends keyof Notice>(name: K): readonly Notice[K][] => notices.map((one) => one[name]);
  const { rows } = await pool.query<{ event_id: string }>(
    `select event_id
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
       as fact (event_id, workspace_id, type, subject, occurrence, occurred_at)
     where not ${wasTold('fact')}`,
    [
      column('eventId'),
      column('workspaceId'),
      column('type'),
      column('subject'),
      column('occurrence'),
      column('occurredAt'),
    ],
  );
  const ids = new Set(rows.map(({ event_id: eventId }) => eventId));
  return notices.filter(({ eventId }) => ids.has(eventId));
};

/** None can be disabled between the look at it and the insert of its delivery, which would then wait for ever. */
const lockEndpointsOf = (workspaceIds: readonly string[]) => sql`
  select from webhooks.endpoint where workspace_id = any (${workspaceIds}) and deleted_at is null
  order by endpoint_id for share`;

/** Rows of one page. */
const PAGE = 500;
/** What happened longer ago is no news. A worker that comes back after an outage still tells what happened during it. */
const NEWS_MS = 7 * 86_400_000;

interface Columns {
  readonly id: string;
  readonly endpoint_id: string;
  readonly workspace_id: string;
  readonly modes: readonly Mode[];
}

const factsOf = ({ endpoint_id: endpointId, workspace_id: workspaceId, modes }: Columns) => ({
  endpointId,
  workspaceId,
  modes,
});

/** A look that reads pages in the order of `id`. @param text SQL; $1: the last id, $2: the bound in time (RFC 3339) */
const look = <Row extends Columns>(
  pool: pg.Pool,
  text: string,
  boundAt: (now: number) => number,
  finding: (row: Row) => Finding,
): Look =>
  async function* (now) {
    let last = '';
    for (;;) {
      const { rows }: { rows: Row[] } = await pool.query<Row>(`${text} order by id limit ${PAGE}`, [
        last,
        instant(boundAt(now)),
      ]);
      yield rows.map(finding);
      if (rows.length < PAGE) return;
      last = rows.at(-1)!.id;
    }
  };

/** An endpoint without a success for so long (ms) after a failure is told of: before, retries may still help. */
const FAILING_AFTER_MS = 3_600_000;

/** What the module's own tables tell about endpoints and replays. */
export const endpointLooks = (pool: pg.Pool): readonly Look[] => [
  look<Columns & { failing_since: Date; consecutive_failures: number }>(
    pool,
    `select endpoint_id as id, endpoint_id, workspace_id, modes, failing_since, consecutive_failures
     from webhooks.endpoint_health join webhooks.endpoint using (endpoint_id)
     where endpoint_id > $1 and failing_since <= $2 and consecutive_failures > 0 and enabled and deleted_at is null`,
    (now) => now - FAILING_AFTER_MS,
    (row) =>
      endpointFailing({
        ...factsOf(row),
        failingSince: row.failing_since.toISOString(),
        consecutiveFailures: row.consecutive_failures,
      }),
  ),
  look<Columns & { disabled_at: Date; disabled_reason: 'gone' | 'failing' }>(
    pool,
    `select endpoint_id as id, endpoint_id, workspace_id, modes, disabled_at, disabled_reason
     from webhooks.endpoint
     where endpoint_id > $1 and disabled_at > $2 and disabled_reason in ('gone', 'failing') and deleted_at is null`,
    (now) => now - NEWS_MS,
    (row) =>
      endpointDisabled({
        ...factsOf(row),
        disabledAt: row.disabled_at.toISOString(),
        reason: row.disabled_reason,
      }),
  ),
  look<Columns & { replay_id: string; state: 'finished' | 'stopped'; events: number; finished_at: Date }>(
    pool,
    `select replay_id::text as id, replay_id, endpoint_id, workspace_id, modes, state, events, finished_at
     from webhooks.replay
     where replay_id::text > $1 and finished_at > $2 and state in ('finished', 'stopped') and not dry_run`,
    (now) => now - NEWS_MS,
    (row) =>
      replayFinished({
        ...factsOf(row),
        replayId: row.replay_id,
        state: row.state,
        events: row.events,
        finishedAt: row.finished_at.toISOString(),
      }),
  ),
];

const DAY_MS = 86_400_000;
const GRANT_WARNING_MS = 7 * DAY_MS;
/** A key that lives for a shorter time in all has no notice (docs/webhooks.md). */
const KEY_WARNING_MS = 14 * DAY_MS;

type Queries = Pick<QueryBus, 'execute'>;

/** What the other modules know of credits and keys. */
export const accountLooks = (pool: pg.Pool, queries: Queries): readonly Look[] => [
  async function* (): ReturnType<Look> {
    const percents = await chosenPercents(pool);
    const highest = Math.max(LOW_CREDITS_PERCENT, ...percents.values());
    for await (const found of pages((after) => queries.execute(new FindLowBalances(highest, after))))
      yield found
        .map((one) => ({ ...one, percent: percents.get(one.workspaceId) ?? LOW_CREDITS_PERCENT }))
        .filter(({ available, toppedUpTo, percent }) => isLow(available, toppedUpTo, percent))
        .map(creditsLow);
  },
  async function* (now): ReturnType<Look> {
    const [from, until] = [instant(now), instant(now + GRANT_WARNING_MS)];
    for await (const found of pages((after) => queries.execute(new FindExpiringGrants(from, until, after))))
      yield found.map(creditsExpiring);
  },
  async function* (now): ReturnType<Look> {
    const from = instant(now);
    for await (const found of pages((after) =>
      queries.execute(new FindExpiringKeys(from, KEY_WARNING_MS, after)),
    ))
      yield found.map(keyExpiring);
  },
];

/** The shares that workspaces have chosen; the others have the default. */
const chosenPercents = async (pool: pg.Pool): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await pool.query<{ workspace_id: string; low_credits_percent: number }>(
    'select workspace_id, low_credits_percent from webhooks.content where low_credits_percent <> $1',
    [LOW_CREDITS_PERCENT],
  );
  return new Map(rows.map((row) => [row.workspace_id, row.low_credits_percent]));
};

interface Page<T> {
  readonly found: readonly T[];
  /** Where the next page begins; `null`: there is none. */
  readonly next: string | null;
}

const pages = async function* <T>(read: (after: string) => Promise<Page<T>>): AsyncGenerator<readonly T[]> {
  for (let after: string | null = ''; after !== null;) {
    const { found, next }: Page<T> = await read(after);
    yield found;
    after = next;
  }
};
