import type { Pool } from 'pg';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';

/**
 * Why no clock can be trusted now; `null` when this process, PostgreSQL and the event store agree on the time. The
 * process that wrote the newest event also dated it: an event from the future shows that a clock was, or is, wrong.
 * @param boundMs the maximum difference between clocks (ms)
 */
export const disagreement = async (
  { pool, store, clock }: { pool: Pool; store: EventStore; clock: Clock },
  boundMs: number,
): Promise<string | null> => {
  const before = clock.now();
  const { rows } = await pool.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  const after = clock.now();
  const now = rows[0]!.now;
  if (now < before - boundMs || now > after + boundMs)
    return `the clocks of this machine and PostgreSQL differ by more than ${boundMs} ms (KEY_CLOCK_SKEW_MS)`;
  for await (const { metadata } of store.readAll({ direction: 'backwards', limit: 1 })) {
    // An event without a date supports the clocks no more than one from the future.
    if (!(Date.parse(metadata.occurredAt) <= now + boundMs))
      return `the newest event has no date, or a date more than ${boundMs} ms after PostgreSQL's time (KEY_CLOCK_SKEW_MS)`;
  }
  return null;
};
