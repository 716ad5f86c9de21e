import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';

/** How long a count is trusted, milliseconds; the readings of this process are added to it meanwhile. */
const TRUSTED_MS = 250;
const WORKSPACES = 10_000;

interface Count {
  readings: number;
  readonly until: number;
}

/** Counts the queued and processing readings of a workspace. */
@Injectable()
export class ReadingsInFlight {
  private readonly counts = new RecentlyUsed<string, Count>(WORKSPACES);

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Whether one more reading is within the limit; it is counted if so. */
  async admits(workspaceId: string, limit: number): Promise<boolean> {
    const known = this.counts.get(workspaceId);
    const count = known && known.until > this.clock.now() ? known : await this.count(workspaceId, limit);
    if (count.readings >= limit) return false;
    count.readings += 1;
    return true;
  }

  private async count(workspaceId: string, limit: number): Promise<Count> {
    const { rows } = await this.pool.query<{ readings: number }>({
      name: 'readings-in-flight',
      text: `select count(*)::int as readings from (
               select 1 from readings.reading
               where workspace_id = $1 and status in ('queued', 'processing') limit $2) unfinished`,
      values: [workspaceId, limit],
    });
    const count = { readings: rows[0]?.readings ?? 0, until: this.clock.now() + TRUSTED_MS };
    this.counts.set(workspaceId, count);
    return count;
  }
}
