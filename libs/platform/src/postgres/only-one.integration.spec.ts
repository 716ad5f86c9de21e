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

describe('Work that one process does at a time', () => {
  it('is refused to others while it runs, however long it takes', async () => {
    const running = onlyOne(pool, 'slow', () => delay(600), { frozenAfterMs: 150 });
    await delay(450);
    expect(await onlyOne(pool, 'slow', noWork)).toBe(false);
    expect(await running).toBe(true);
    expect(await onlyOne(pool, 'slow', noWork)).toBe(true);
  });

  it('passes to another process when the first one freezes', async () => {
    // The event loop of a frozen process does nothing, so it sends no sign of life.
    const frozen = await pool.connect();
    const silent = { connect: () => Promise.resolve(withoutSigns(frozen)) } as unknown as pg.Pool;
    let thaw = (): void => undefined;
    const stuck = onlyOne(silent, 'frozen', () => new Promise((resolve) => (thaw = resolve)), {
      frozenAfterMs: 150,
    });
    try {
      await delay(50);
      expect(await onlyOne(pool, 'frozen', noWork)).toBe(false);
      await delay(400);
      expect(await onlyOne(pool, 'frozen', noWork)).toBe(true);
    } finally {
      thaw();
    }
    expect(await stuck).toBe(true);
  });
});

const withoutSigns = (client: pg.PoolClient) => ({
  query: (text: string, values?: unknown[]) =>
    text === 'select' ? Promise.resolve() : client.query(text, values),
  release: (error?: Error | boolean) => client.release(error),
});
