import { rowsOf, type Contents, type SimulatedPostgres } from './postgres.js';
import type { Scheduler } from './scheduler.js';

/** Probability that PostgreSQL loses its last writes once. */
const LOSES = 0.3;
const BEGINS_WITHIN_MS = 40_000;
/** How far an asynchronous standby is behind (ms). */
const BEHIND_MS = [5, 5_000] as const;

/** What was gone with the last writes of PostgreSQL, and nothing can make again. */
export interface Lost {
  /** The readings whose keys are gone. */
  readonly keys: Set<string>;
  /** The documents whose rows are gone, as {@link placeOf} names them. */
  readonly artifacts: Set<string>;
}

/** PostgreSQL goes back to an earlier state, as after the promotion of an asynchronous standby. The event store does not. */
export const maybeLoseSuffix = (scheduler: Scheduler, postgres: SimulatedPostgres): Lost => {
  const lost: Lost = { keys: new Set(), artifacts: new Set() };
  const { random } = scheduler;
  if (!random.chance(LOSES)) return lost;
  const lose = async (kept: Contents): Promise<void> => {
    const gone = await postgres.copy();
    const keys = new Set(rowsOf(kept, 'platform.subject_key').map((row) => row['wrapped_key']));
    for (const { subject_id: id, wrapped_key: key } of rowsOf(gone, 'platform.subject_key'))
      if (!keys.has(key)) lost.keys.add(id as string);
    const places = new Set(rowsOf(kept, 'publishing.artifact').map(placeOf));
    for (const place of rowsOf(gone, 'publishing.artifact').map(placeOf))
      if (!places.has(place)) lost.artifacts.add(place);
    await postgres.goBackTo(kept);
  };
  scheduler.after(random.between(1, BEGINS_WITHIN_MS), 'the standby falls behind', () => {
    if (!scheduler.isRough) return;
    void postgres.copy().then((kept) => {
      const behind = random.between(...BEHIND_MS);
      scheduler.after(behind, 'PostgreSQL loses its last writes', () => void lose(kept));
    });
  });
  return lost;
};

/** A document by its reading, version and format. */
export const placeOf = (row: Readonly<Record<string, unknown>>): string =>
  [row['reading_id'], row['version'], row['format']].join('|');
