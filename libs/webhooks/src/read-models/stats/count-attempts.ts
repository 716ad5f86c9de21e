import { LATENCY_BOUNDS_MS, LATENCY_CLASSES } from '../../domain/delivery/latency.js';

/** `width_bucket` counts a value on a bound into the class above it, so the bounds are one millisecond higher. */
const BOUNDS = `array[${LATENCY_BOUNDS_MS.map((bound) => bound + 1).join(', ')}]`;
const COUNTS = Array.from(
  { length: LATENCY_CLASSES },
  (_, index) => `count(*) filter (where width_bucket(duration_ms, ${BOUNDS}) = ${index})`,
);

/**
 * SQL: adds attempts to the sums of their endpoints, in the statement that records them. So each is counted once, however
 * often it is repeated. Rows are written in one order, so that two workers cannot deadlock.
 * @param attempts a table, or a join of tables, with endpoint_id, started_at, duration_ms and error
 */
export const countAttempts = (attempts: string): string => `
  insert into webhooks.endpoint_hour as known (endpoint_id, hour, outcome, attempts, latencies)
  select endpoint_id, date_trunc('hour', started_at, 'UTC'), coalesce(error, 'succeeded'), count(*)::integer,
         array[${COUNTS.join(', ')}]::integer[]
  from ${attempts} group by 1, 2, 3 order by 1, 2, 3
  on conflict (endpoint_id, hour, outcome) do update
  set attempts = known.attempts + excluded.attempts,
      latencies = (select array_agg(a + b order by place)
                   from unnest(known.latencies, excluded.latencies) with ordinality as both_counts (a, b, place))`;
