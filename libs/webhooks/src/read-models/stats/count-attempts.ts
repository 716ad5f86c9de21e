import { LATENCY_BOUNDS_MS, LATENCY_CLASSES } from '../../domain/delivery/latency.js';

/** `width_bucket` counts a value on a bound into the class above it, so the bounds are one millisecond higher. */
const BOUNDS = `array[${LATENCY_BOUNDS_MS.map((bound) => bound + 1).join(', ')}]`;
const CLASSES = Array.from({ length: LATENCY_CLASSES }, (_, index) => index);
const COUNTS = CLASSES.map((index) => `count(*) filter (where class = ${index})`);
/** Arrays in SQL begin at 1. Written out: as an aggregate over both arrays it took five times as long. */
const SUMS = CLASSES.map((index) => `known.latencies[${index + 1}] + excluded.latencies[${index + 1}]`);

/**
 * SQL: adds attempts to the sums of their endpoints, in the statement that records them. So each is counted once, however
 * often it is repeated. Rows are written in one order, so that two workers cannot deadlock.
 * @param attempts a table, or a join of tables, with endpoint_id, started_at, duration_ms and error
 */
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
