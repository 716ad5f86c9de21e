import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import {
  endpointDisabled,
  endpointFailing,
  replayFinished,
  type Finding,
} from '../../domain/notice/finding.js';
import type { Look } from './notice-watch.js';

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
