import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetEndpointStats, type AttemptFigures, type EndpointStats } from '../../contracts/stats.js';
import { LATENCY_CLASSES, addCounts, percentile } from '../../domain/delivery/latency.js';

interface Sum {
  readonly hour: Date;
  readonly outcome: string;
  readonly attempts: number;
  readonly latencies: readonly number[];
}

/** Reads the hourly sums of an endpoint's attempts. */
@Injectable()
export class HourlyStats {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** Of the hours that begin from `since` and before `until` (RFC 3339). */
  async of(endpointId: string, since: string, until: string): Promise<EndpointStats> {
    const { rows } = await this.pool.query<Sum>(
      `select hour, outcome, attempts, latencies from webhooks.endpoint_hour
       where endpoint_id = $1 and hour >= $2 and hour < $3 order by hour, outcome`,
      [endpointId, since, until],
    );
    const byHour = new Map<string, Sum[]>();
    for (const sum of rows) {
      const hour = sum.hour.toISOString();
      byHour.set(hour, [...(byHour.get(hour) ?? []), sum]);
    }
    const hours = [...byHour].map(([hour, sums]) => ({ hour, ...figuresOf(sums) }));
    return { hours, total: figuresOf(rows) };
  }
}

@QueryHandler(GetEndpointStats)
export class GetEndpointStatsHandler implements IQueryHandler<GetEndpointStats> {
  constructor(private readonly stats: HourlyStats) {}

  execute({ endpointId, since, until }: GetEndpointStats): Promise<EndpointStats> {
    return this.stats.of(endpointId, since, until);
  }
}

const figuresOf = (sums: readonly Sum[]): AttemptFigures => {
  const attempts: Record<string, number> = {};
  let counts: readonly number[] = Array.from({ length: LATENCY_CLASSES }, () => 0);
  for (const { outcome, attempts: n, latencies } of sums) {
    attempts[outcome] = (attempts[outcome] ?? 0) + n;
    if (outcome === 'succeeded') counts = addCounts(counts, latencies);
  }
  const at = (share: number): number | null => percentile(counts, share);
  const [p50, p95, p99] = [at(0.5), at(0.95), at(0.99)];
  const latencyMs = p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 };
  return { attempts, latencyMs };
};
