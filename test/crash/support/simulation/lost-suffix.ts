import type { Scheduler } from './scheduler.js';
import type { Tables } from './tables.js';

/** Probability that PostgreSQL loses its last writes once. */
const LOSES = 0.3;
const BEGINS_WITHIN_MS = 40_000;
/** How far an asynchronous standby is behind (ms). */
const BEHIND_MS = [5, 5_000] as const;

/** What was gone with the last writes of PostgreSQL, and nothing can make again. */
export interface Lost {
  /** The readings whose keys are gone. */
  readonly keys: Set<string>;
  /** The documents whose rows are gone. */
  readonly artifacts: Set<string>;
}

/** PostgreSQL goes back to an earlier state, as after the promotion of an asynchronous standby. The event store does not. */
export const maybeLoseSuffix = (scheduler: Scheduler, tables: Tables): Lost => {
  const lost: Lost = { keys: new Set(), artifacts: new Set() };
  const { random } = scheduler;
  if (!random.chance(LOSES)) return lost;
  scheduler.after(random.between(1, BEGINS_WITHIN_MS), 'the standby falls behind', () => {
    if (!scheduler.isRough) return;
    const rows = tables.copy();
    scheduler.after(random.between(...BEHIND_MS), 'PostgreSQL loses its last writes', () => {
      for (const [id, { serial }] of tables.subjectKeys)
        if (!rows.subjectKeys.some(([known, key]) => known === id && key.serial === serial))
          lost.keys.add(id);
      for (const key of tables.artifacts.keys())
        if (!rows.artifacts.some(([known]) => known === key)) lost.artifacts.add(key);
      tables.goBackTo(rows);
    });
  });
  return lost;
};
