import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { onlyOne } from './only-one.js';
import { openPool } from './pool.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 4, applicationName: 'only one', onError: () => undefined });
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const noWork = async () => Promise.resolve();
const FROZEN_AFTER_MS = 2_000;
/** A busy machine may hold up signs of life for seconds. */
const BUSY_FROZEN_AFTER_MS = 8_000;

/** Work under that name that lasts until `end`. */
const begin = async (on: pg.Pool, name: string, frozenAfterMs: number) => {
  let end = (): void => undefined;
  let ran: Promise<boolean> | undefined;
  await new Promise<void>((started) => {
    const work = () =>
      new Promise<void>((ended) => {
        end = ended;
        started();
      });
    ran = onlyOne(on, name, work, { frozenAfterMs });
  });
  return { end, ran };
};

describe('Work that one process does at a time', () => {
  it('is refused to others while it runs, however long it takes', async () => {
    const { end, ran } = await begin(pool, 'slow', BUSY_FROZEN_AFTER_MS);
    try {
      await delay(1.25 * BUSY_FROZEN_AFTER_MS);
      expect(await onlyOne(pool, 'slow', noWork)).toBe(false);
    } finally {
      end();
    }
    expect(await ran).toBe(true);
    expect(await onlyOne(pool, 'slow', noWork)).toBe(true);
  });

  it('passes to another process when the first one freezes', async () => {
    // The event loop of a frozen process does nothing, so it sends no sign of life.
    const frozen = await pool.connect();
    const silent = { connect: () => Promise.resolve(withoutSigns(frozen)) } as unknown as pg.Pool;
    const since = performance.now();
    const { end, ran } = await begin(silent, 'frozen', FROZEN_AFTER_MS);
    try {
      const hasPassed = await onlyOne(pool, 'frozen', noWork);
      const isEarly = performance.now() - since < FROZEN_AFTER_MS;
      expect({ hasPassed, isEarly }).not.toEqual({ hasPassed: true, isEarly: true });
      await delay(FROZEN_AFTER_MS);
      while (!(await onlyOne(pool, 'frozen', noWork))) await delay(50);
    } finally {
      end();
    }
    expect(await ran).toBe(true);
  });
});

const withoutSigns = (client: pg.PoolClient) => ({
  query: (text: string, values?: unknown[]) =>
    text === 'select' ? Promise.resolve() : client.query(text, values),
  release: (error?: Error | boolean) => client.release(error),
});
