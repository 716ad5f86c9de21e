import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

const LOOK_MS = 5;

/** Milliseconds from now until a reading's status row exists and meets the condition, to 5 ms. */
export const untilRow = async (database: pg.Pool, readingId: string, condition = 'true'): Promise<number> => {
  const startedAt = performance.now();
  for (;;) {
    const { rowCount } = await database.query({
      name: `until ${condition}`,
      text: `select from readings.reading where reading_id = $1 and ${condition}`,
      values: [readingId],
    });
    if (rowCount === 1) return performance.now() - startedAt;
    await delay(LOOK_MS);
  }
};
