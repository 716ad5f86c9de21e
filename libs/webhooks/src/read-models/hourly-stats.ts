import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetEndpointStats, type AttemptFigures, type EndpointStats } from '../contracts/index.js';

/** Upper bounds of the classes of durations (ms), inclusive. Never changed: stored sums count by them. */
export const LATENCY_BOUNDS_MS = [
  5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000,
  15_000,
] as const;

export const LATENCY_CLASSES = LATENCY_BOUNDS_MS.length + 1;

export const addCounts = (a: readonly number[], b: readonly number[]): readonly number[] =>
  Array.from({ length: LATENCY_CLASSES }, (_, index) => (a[index] ?? 0) + (b[index] ?? 0));

/** The duration (ms) that a share (0 to 1) of the attempts does not exceed, exact to its class. `null`: no attempts */
export const percentile = (counts: readonly number[], share: number): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = index === 0 ? 0 : LATENCY_BOUNDS_MS[index - 1]!;
      const to = LATENCY_BOUNDS_MS[index] ?? from;
      return Math.round(from + ((to - from) * (rank - below)) / count);
    }
    below += count;
  }
  return LATENCY_BOUNDS_MS.at(-1)!;
};

/** `width_bucket` counts a value on a bound into the class above it, so the bounds are one millisecond higher. */
const BOUNDS = `array[${LATENCY_BOUNDS_MS.map((bound) => bound + 1).join(', ')}]`;
const CLASSES = Array.from({ length: LATENCY_CLASSES }, (_, index) => index);
const COUNTS = CLASSES.map((index) => `count(*) filter (where class = ${index})`);
/** Arrays in SQL begin at 1. Written out: as an aggregate over both arrays it took five times as long. */
const SUMS = CLASSES.map((index) => `known.latencies[${index + 1}] + excluded.latencies[${index + 1}]`);

/** SQL: adds attempts to the sums in the statement that records them: each once. One order of rows, so no deadlock. */
export const countAttempts = (attempts: string): string => `
  insert into webhooks.endpoint_hour as known (endpoint_id, hour, outcome, attempts, latencies, last_at)
  select endpoint_id, hour, outcome, count(*)::integer, array[${COUNTS.join(', ')}]::integer[], max(started_at)
  from (select endpoint_id, started_at, date_trunc('hour', started_at, 'UTC') as hour, coalesce(error, 'succeeded') as outcome,
               width_bucket(duration_ms, ${BOUNDS}) as class
        from ${attempts}) classified
  group by endpoint_id, hour, outcome order by endpoint_id, hour, outcome
  on conflict (endpoint_id, hour, outcome) do update
  set attempts = known.attempts + excluded.attempts, latencies = array[${SUMS.join(', ')}],
      last_at = greatest(known.last_at, excluded.last_at)`;

interface Sum {
  readonly hour: Date;
  readonly outcome: string;
  readonly attempts: number;
  /** Of successful attempts alone: of the others nobody is shown them, and parsing them takes most of the time. */
  readonly latencies: readonly number[] | null;
}

@QueryHandler(GetEndpointStats)
export class GetEndpointStatsHandler implements IQueryHandler<GetEndpointStats> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ endpointId, since, until }: GetEndpointStats): Promise<EndpointStats> {
    const { rows } = await this.pool.query<Sum>(
      `select hour, outcome, attempts, case outcome when 'succeeded' then latencies end as latencies
       from webhooks.endpoint_hour
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

const figuresOf = (sums: readonly Sum[]): AttemptFigures => {
  const attempts: Record<string, number> = {};
  let counts: readonly number[] = Array.from({ length: LATENCY_CLASSES }, () => 0);
  for (const { outcome, attempts: n, latencies } of sums) {
    attempts[outcome] = (attempts[outcome] ?? 0) + n;
    if (latencies) counts = addCounts(counts, latencies);
  }
  const at = (share: number): number | null => percentile(counts, share);
  const [p50, p95, p99] = [at(0.5), at(0.95), at(0.99)];
  const latencyMs = p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 };
  return { attempts, latencyMs };
};
