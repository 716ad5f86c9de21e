import type pg from 'pg';
import type { Logger } from 'pino';
import type { QueryBus } from '@nestjs/cqrs';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { runSteps, sql } from '#event-sourcing/projections/statement.js';
import { transaction } from '#platform/postgres/pool.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
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
import { asRecord } from '#platform/postgres/as-record.js';
import type { Config } from '../settings.js';
import { insertNotices, lockNotices } from './insert-deliveries.js';

/** Scans for what workspaces should be told, page by page. @param now milliseconds since the epoch */
export type Scan = (now: number) => AsyncIterable<readonly Finding[]>;

interface NoticeParts {
  readonly pool: pg.Pool;
  readonly clock: TrustedClock;
  readonly config: Pick<Config, 'WEBHOOK_RETRY_SCHEDULE_MS'>;
  readonly scans: readonly Scan[];
  readonly log: Pick<Logger, 'warn'>;
}

/** How often a worker looks for new notices (ms): none is urgent, and each look reads the endpoints and books of all workspaces. */
const NOTICES_EVERY_MS = 60_000;

/** Tells workspaces what the scans find. They see what lasts, so a lost process loses nothing and two workers tell it once. */
export const watchNotices = (parts: NoticeParts): WorkLoop =>
  repeatedWork('webhooks.notices', NOTICES_EVERY_MS, (signal) => noticeRound(parts, signal), parts.log);

/** One round over all scans. One that fails does not keep the others from theirs. @throws the first failure */
export const noticeRound = async (
  { pool, clock, config, scans }: Omit<NoticeParts, 'log'>,
  signal?: AbortSignal,
): Promise<void> => {
  const now = await clock.now();
  const firstPauseMs = config.WEBHOOK_RETRY_SCHEDULE_MS[0] ?? 0;
  const failures: unknown[] = [];
  for (const findAll of scans) {
    try {
      for await (const findings of findAll(now)) {
        if (signal?.aborted) return;
        const notices = findings.map((one) => noticeOfFinding(one, instant(now)));
        await tell(pool, notices, firstPauseMs);
      }
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};

/** The decision to tell, the notice and its deliveries commit together. */
const tell = async (pool: pg.Pool, notices: readonly Notice[], firstPauseMs: number): Promise<void> => {
  if (notices.length === 0) return;
  const workspaceIds = [...new Set(notices.map(({ workspaceId }) => workspaceId))];
  await transaction(pool, (client) =>
    runSteps(client, [lockNotices, lockEndpointsOf(workspaceIds), insertNotices(notices, firstPauseMs)]),
  );
};

/** None can be disabled between the scan and the insert of its delivery, which would then wait for ever. */
const lockEndpointsOf = (workspaceIds: readonly string[]) => sql`
  select from webhooks.endpoint where workspace_id = any (${workspaceIds}) and deleted_at is null
  order by endpoint_id for share`;

const PAGE = 500;
/** What happened longer ago is no news. A worker that comes back after an outage still tells what happened during it. */
const NEWS_MS = 7 * 86_400_000;

/** A scan that reads pages in the order of `id`. @param text SQL; $1: the last id, $2: the bound in time (RFC 3339) */
const scan = <Facts extends object>(
  pool: pg.Pool,
  text: string,
  agoMs: number,
  finding: (facts: Facts) => Finding,
): Scan =>
  async function* (now) {
    for (let last = ''; ;) {
      const { rows } = await pool.query<{ id: string }>(`${text} order by id limit ${PAGE}`, [
        last,
        instant(now - agoMs),
      ]);
      yield rows.map((row) => finding(asRecord<Facts>(row)));
      if (rows.length < PAGE) return;
      last = rows.at(-1)!.id;
    }
  };

/** An endpoint without a success for so long (ms) after a failure is told of: before, retries may still help. */
const FAILING_AFTER_MS = 3_600_000;
const OF_ENDPOINT = 'endpoint_id as "endpointId", workspace_id as "workspaceId", modes';

export const endpointScans = (pool: pg.Pool): readonly Scan[] => [
  scan(
    pool,
    `select endpoint_id as id, ${OF_ENDPOINT}, failing_since as "failingSince",
            consecutive_failures as "consecutiveFailures"
     from webhooks.endpoint_health join webhooks.endpoint using (endpoint_id)
     where endpoint_id > $1 and failing_since <= $2 and consecutive_failures > 0 and enabled and deleted_at is null`,
    FAILING_AFTER_MS,
    endpointFailing,
  ),
  scan(
    pool,
    `select endpoint_id as id, ${OF_ENDPOINT}, disabled_at as "disabledAt", disabled_reason as reason
     from webhooks.endpoint
     where endpoint_id > $1 and disabled_at > $2 and disabled_reason in ('gone', 'failing') and deleted_at is null`,
    NEWS_MS,
    endpointDisabled,
  ),
  scan(
    pool,
    `select replay_id::text as id, ${OF_ENDPOINT}, replay_id as "replayId", state, events, finished_at as "finishedAt"
     from webhooks.replay
     where replay_id::text > $1 and finished_at > $2 and state in ('finished', 'stopped') and not dry_run`,
    NEWS_MS,
    replayFinished,
  ),
];

const DAY_MS = 86_400_000;
const GRANT_WARNING_MS = 7 * DAY_MS;
/** A key that lives for a shorter time in all has no notice (docs/webhooks.md). */
const KEY_WARNING_MS = 14 * DAY_MS;

export const accountScans = (pool: pg.Pool, queries: Pick<QueryBus, 'execute'>): readonly Scan[] => [
  async function* () {
    const percents = await chosenPercents(pool);
    const highest = Math.max(LOW_CREDITS_PERCENT, ...percents.values());
    for await (const found of pages((after) => queries.execute(new FindLowBalances(highest, after))))
      yield found
        .map((one) => ({ ...one, percent: percents.get(one.workspaceId) ?? LOW_CREDITS_PERCENT }))
        .filter(({ available, toppedUpTo, percent }) => isLow(available, toppedUpTo, percent))
        .map(creditsLow);
  },
  async function* (now) {
    const [from, until] = [instant(now), instant(now + GRANT_WARNING_MS)];
    for await (const found of pages((after) => queries.execute(new FindExpiringGrants(from, until, after))))
      yield found.map(creditsExpiring);
  },
  async function* (now) {
    const of = (after: string) => new FindExpiringKeys(instant(now), KEY_WARNING_MS, after);
    for await (const found of pages((after) => queries.execute(of(after)))) yield found.map(keyExpiring);
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

/** @param read gets where a page begins; `next` is where the one after it does, `null` when there is none */
const pages = async function* <T>(
  read: (after: string) => Promise<{ readonly found: readonly T[]; readonly next: string | null }>,
): AsyncGenerator<readonly T[]> {
  for (let after: string | null = ''; after !== null;) {
    const page: Awaited<ReturnType<typeof read>> = await read(after);
    yield page.found;
    after = page.next;
  }
};
