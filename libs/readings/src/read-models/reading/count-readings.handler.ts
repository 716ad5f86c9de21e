import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { STEADY_CLOCK } from '#platform/tokens.js';
import { CountReadings, type ReadingsOfDay } from '../../contracts/queries.js';

/** Counting looks at every reading of the time. Many are counted once in so many milliseconds, few each time. */
const KEPT_MS = 30_000;
const MANY = 5_000;
const KEPT = 1_000;

@QueryHandler(CountReadings)
export class CountReadingsHandler implements IQueryHandler<CountReadings> {
  private readonly counted = new LRUCache<string, { at: number; days: Promise<readonly ReadingsOfDay[]> }>({
    max: KEPT,
  });

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(STEADY_CLOCK) private readonly steady: Clock,
  ) {}

  execute({ workspaceId, livemode, since }: CountReadings): Promise<readonly ReadingsOfDay[]> {
    const key = `${workspaceId} ${livemode} ${since}`;
    const now = this.steady.now();
    const known = this.counted.get(key);
    if (known && now - known.at < KEPT_MS) return known.days;
    const days = this.count(workspaceId, livemode, since);
    this.counted.set(key, { at: now, days });
    const forget = () => this.counted.delete(key);
    days.then((found) => sumOf(found) < MANY && forget(), forget);
    return days;
  }

  private async count(
    workspaceId: string,
    livemode: boolean,
    since: string,
  ): Promise<readonly ReadingsOfDay[]> {
    const { rows } = await this.pool.query<{ day: string; readings: number }>(
      `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as readings
       from readings.reading
       where workspace_id = $1 and ${livemode ? 'livemode' : 'not livemode'} and created_at >= $2
       group by day order by day`,
      [workspaceId, since],
    );
    return rows;
  }
}

const sumOf = (days: readonly ReadingsOfDay[]): number =>
  days.reduce((sum, { readings }) => sum + readings, 0);
