import { Inject, Injectable, Optional } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetOpenHolds } from '../contracts/ports.js';
import { reservationIdsUpTo } from './request-reading.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../executors.js';

/** The key of a request that became no reading within this time (ms) is deleted. */
const ABANDONED_AFTER_MS = 3_600_000;
/** Each round looks at every key, to find those without a reading (ms). */
export const KEYS_SWEPT_EVERY_MS = 3_600_000;
/** Keys read with one statement. */
const PAGE = 500;

interface OldKey {
  subject_id: string;
  workspace_id: string;
  /** Text, to keep the database's microseconds. */
  created_at: string;
}

/**
 * Deletes keys of requests that crashed between making a key and recording their reading.
 *
 * A request makes its key after its hold. A hold is settled only once the reading's stream says that no request can use
 * it any more. So a key without a reading, all of whose holds are settled, is unused.
 *
 * A request that finds such a key meanwhile refreshes its creation time, which the deletion checks.
 */
@Injectable()
export class KeySweep {
  constructor(
    private readonly queries: QueryBus,
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Optional() private readonly abandonedAfterMs = ABANDONED_AFTER_MS,
  ) {}

  /** Looks at each old key without a row once, the oldest first. @throws StoreUnavailable */
  async sweep(signal: AbortSignal): Promise<void> {
    let last: OldKey | undefined;
    do {
      const page = await this.oldKeys(last);
      await this.judge(page);
      last = page.length === PAGE ? page.at(-1) : undefined;
    } while (last && !signal.aborted);
  }

  /**
   * Queries holds before it reads any stream: the stream then already shows why a hold was settled. Where a book cannot
   * be read, keys without a reading stay until it can.
   */
  private async judge(keys: readonly OldKey[]): Promise<void> {
    const openHolds = new Map<string, ReadonlySet<string> | null>();
    for (const workspaceId of new Set(keys.map((key) => key.workspace_id))) {
      const open = await this.queries.execute(new GetOpenHolds(workspaceId));
      openHolds.set(workspaceId, open && new Set(open));
    }
    for (const { subject_id: readingId, workspace_id: workspaceId, created_at } of keys) {
      const { state, revision } = await this.executor.load(readingId);
      const open = openHolds.get(workspaceId);
      const isUsed = state.status !== 'none' || !open;
      if (isUsed || reservationIdsUpTo(readingId, revision).some((id) => open.has(id))) continue;
      await this.pool.query(
        'delete from platform.subject_key where subject_id = $1 and created_at = $2::timestamptz',
        [readingId, created_at],
      );
    }
  }

  private async oldKeys(after: OldKey | undefined): Promise<readonly OldKey[]> {
    const { rows } = await this.pool.query<OldKey>(
      `select subject_id, workspace_id, created_at::text from platform.subject_key as key
       where created_at < now() - make_interval(secs => $1)
         and ($2::text is null or (created_at, subject_id) > ($2::timestamptz, $3::uuid))
         and not exists (select from readings.reading where reading_id = subject_id)
       order by key.created_at, subject_id limit ${PAGE}`,
      [this.abandonedAfterMs / 1_000, after?.created_at ?? null, after?.subject_id ?? null],
    );
    return rows;
  }
}
