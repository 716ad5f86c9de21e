import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';

type Asked = Pick<Pool, 'query'>;

const ASK_EVERY_MS = 1_000;

const questions = new WeakMap<Asked, Promise<boolean>>();

/** Who asks while a question is under way shares its answer: consumers of a process ask PostgreSQL once, not each. */
const answers = (pool: Asked): Promise<boolean> => {
  const asked =
    questions.get(pool) ??
    pool
      .query('select 1')
      .then(
        () => true,
        () => false,
      )
      .finally(() => questions.delete(pool));
  questions.set(pool, asked);
  return asked;
};

/**
 * Asks every second, until PostgreSQL answers or the signal aborts.
 * @returns whether it was away
 */
export const untilPostgresAnswers = async (pool: Asked, signal: AbortSignal): Promise<boolean> => {
  let wasAway = false;
  while (!signal.aborted && !(await answers(pool))) {
    wasAway = true;
    await delay(ASK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return wasAway;
};
