import type pg from 'pg';
import type { Logger } from 'pino';
import { instant } from '#event-sourcing/core/clock.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { runSteps, sql } from '#event-sourcing/projections/statement.js';
import { transaction } from '#platform/postgres/pool.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import type { Finding } from '../../domain/notice/finding.js';
import { noticeOfFinding, type Notice } from '../../domain/notice/notice.js';
import { wasTold } from '../../read-models/notice/notice-sql.js';
import type { Config } from '../../settings.js';
import { insertNotices, lockNotices } from '../fan-out/insert-deliveries.js';

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
