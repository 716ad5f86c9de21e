import type { Pool } from 'pg';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';

/**
 * Why no time can be trusted now; `null` when this process, PostgreSQL and the event log agree about it. The log's
 * newest event was dated by whichever process wrote it: one from the future says that a clock was, or is, wrong.
 * @param boundMs how far clocks may be apart
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
    return `the clocks of this machine and of PostgreSQL are more than ${boundMs} ms apart (KEY_CLOCK_SKEW_MS)`;
  for await (const { metadata } of store.readAll({ direction: 'backwards', limit: 1 })) {
    // One without a time says no more for the clocks than one from the future.
    if (!(Date.parse(metadata.occurredAt) <= now + boundMs))
      return `the newest event has no date, or one more than ${boundMs} ms after PostgreSQL's time (KEY_CLOCK_SKEW_MS)`;
  }
  return null;
};
