import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK, STEADY_CLOCK } from '@app/platform/tokens.js';

/** How long a count is reused, milliseconds. Readings of this process are added to it meanwhile. */
const TRUSTED_MS = 250;
const WORKSPACES = 10_000;

interface Count {
  /** Number of unfinished rows when they were counted. */
  readings: number;
  until: number;
  /** When this process admitted readings that had no row at that count, ascending. Without a worker, no rows appear. */
  withoutRow: number[];
}

/**
 * Counts the queued and processing readings of a workspace: its rows, and the readings that this process admitted after
 * the newest row was requested. Readings that other processes admitted and no worker has projected are not counted.
 */
@Injectable()
export class ReadingsInFlight {
  private readonly counts = new RecentlyUsed<string, Count>(WORKSPACES);

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(STEADY_CLOCK) private readonly steady: Clock,
  ) {}

  /** Whether one more reading is within the limit. If so, it counts until it has a row or is `withdrawn`. */
  async admits(workspaceId: string, limit: number): Promise<boolean> {
    const known = this.counts.get(workspaceId);
    const count = known && known.until > this.steady.now() ? known : await this.count(workspaceId, limit);
    if (count.readings + count.withoutRow.length >= limit) return false;
    count.withoutRow.push(this.clock.now());
    return true;
  }

  /** An admitted request has not become a reading. */
  withdrawn(workspaceId: string): void {
    this.counts.get(workspaceId)?.withoutRow.pop();
  }

  private async count(workspaceId: string, limit: number): Promise<Count> {
    const { rows } = await this.pool.query<{ readings: number; newest: Date | null }>({
      name: 'readings-in-flight',
      text: `select count(*)::int as readings,
                    (select max(created_at) from readings.reading where workspace_id = $1) as newest
             from (select from readings.reading
                   where workspace_id = $1 and status in ('queued', 'processing') limit $2) unfinished`,
      values: [workspaceId, limit],
    });
    const { readings = 0, newest = null } = rows[0] ?? {};
    // Looked up again: others may have been admitted during the database query.
    const known = this.counts.get(workspaceId);
    const withoutRow = (known?.withoutRow ?? []).filter((at) => newest === null || at > newest.getTime());
    const count = { readings, until: this.steady.now() + TRUSTED_MS, withoutRow };
    this.counts.set(workspaceId, count);
    return count;
  }
}
