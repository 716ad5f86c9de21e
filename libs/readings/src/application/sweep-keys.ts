import { Inject, Injectable, Optional } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetOpenHolds } from '../contracts/ports.js';
import { reservationIdsUpTo } from './request-reading.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../executors.js';

/** The key of a request that became no reading within this time (ms) is deleted. */
const ABANDONED_AFTER_MS = 3_600_000;
/** Keys read with one statement. */
const PAGE = 500;
/** Most keys checked in one round, and most of them without a reading's row: each of those needs a stream read. */
const ROUND = 100_000;
const STREAMS = 5_000;

type Place = Pick<OldKey, 'created_at' | 'subject_id'>;

interface OldKey {
  subject_id: string;
  workspace_id: string;
  /** Text, to keep the database's microseconds. */
  created_at: string;
  known: boolean;
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
  /** Where the last round stopped, and whether all keys before that point were decided. */
  private left: { readonly after: Place | null; readonly isDecided: boolean } | null = null;

  constructor(
    private readonly queries: QueryBus,
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Optional() private readonly abandonedAfterMs = ABANDONED_AFTER_MS,
  ) {}

  /** Resumes where the last sweep stopped, oldest keys first. @throws StoreUnavailable */
  async sweep(signal: AbortSignal): Promise<void> {
    const reached = await this.reached();
    let { after, isDecided } = this.left ?? { after: reached, isDecided: true };
    this.left = null;
    let streams = 0;
    for (let seen = 0; seen < ROUND && streams < STREAMS && !signal.aborted; seen += PAGE) {
      const page = await this.oldKeys(after);
      const unknown = page.filter(({ known }) => !known);
      const undecided = await this.judge(unknown);
      streams += unknown.length;
      isDecided &&= undecided === 0;
      const last = page.at(-1);
      if (!last) return;
      after = last;
      // A key that could not be decided is checked again.
      if (isDecided) await this.reach(last);
      if (page.length < PAGE) return;
    }
    this.left = { after, isDecided };
  }

  /**
   * Queries holds before it reads any stream: the stream then already shows why a hold was settled. Where a book cannot
   * be read, keys without a reading stay until it can.
   * @returns how many keys a request may still use
   */
  private async judge(keys: readonly OldKey[]): Promise<number> {
    let undecided = 0;
    const openHolds = new Map<string, ReadonlySet<string> | null>();
    for (const workspaceId of new Set(keys.map((key) => key.workspace_id))) {
      const open = await this.queries.execute(new GetOpenHolds(workspaceId));
      openHolds.set(workspaceId, open && new Set(open));
    }
    for (const key of keys) {
      const { subject_id: readingId, workspace_id: workspaceId } = key;
      const { state, revision } = await this.executor.load(readingId);
      // Its row is not projected yet.
      if (state.status !== 'none') continue;
      const open = openHolds.get(workspaceId);
      if (!open || reservationIdsUpTo(readingId, revision).some((id) => open.has(id))) undecided += 1;
      else await this.delete(key);
    }
    return undecided;
  }

  private async delete({ subject_id, created_at }: OldKey): Promise<void> {
    await this.pool.query(
      'delete from platform.subject_key where subject_id = $1 and created_at = $2::timestamptz',
      [subject_id, created_at],
    );
  }

  private async oldKeys(after: Place | null): Promise<OldKey[]> {
    const { rows } = await this.pool.query<OldKey>(
      `select key.subject_id, key.workspace_id, key.created_at::text, reading.reading_id is not null as known
       from (select subject_id, workspace_id, created_at from platform.subject_key
             where created_at < now() - make_interval(secs => $1)
               and ($2::text is null or (created_at, subject_id) > ($2::timestamptz, $3::uuid))
             order by created_at, subject_id limit ${PAGE}) as key
       left join readings.reading on reading.reading_id = key.subject_id
       order by key.created_at, key.subject_id`,
      [this.abandonedAfterMs / 1_000, after?.created_at ?? null, after?.subject_id ?? null],
    );
    return rows;
  }

  private async reached(): Promise<Place | null> {
    const { rows } = await this.pool.query<Place>(
      'select created_at::text, subject_id from platform.key_sweep',
    );
    return rows[0] ?? null;
  }

  private async reach({ created_at, subject_id }: OldKey): Promise<void> {
    await this.pool.query(
      `insert into platform.key_sweep (created_at, subject_id) values ($1::timestamptz, $2)
       on conflict (single) do update set created_at = excluded.created_at, subject_id = excluded.subject_id`,
      [created_at, subject_id],
    );
  }
}
