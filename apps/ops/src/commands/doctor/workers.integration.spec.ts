import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { heartbeat } from '#platform/time/heartbeat.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import { until } from '../../../../../test/support/integrator.js';
import { checkWorkers } from './work.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'spec', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

it('Doctor finds by the heartbeats that nobody works, and then which role nobody has', async () => {
  const found = () => checkWorkers(pool);
  expect(await found()).toMatchObject({ level: 'failure', message: 'no heartbeat for 10 s' });
  const ending = new AbortController();
  const store = { head: async () => null } as never;
  const beat = (instance: string, roles: Parameters<typeof heartbeat>[2]) =>
    heartbeat('worker', { pool, store, time: { instance, aheadOfPostgres: 0 } as never }, roles).run(
      ending.signal,
    );
  const beats = [beat('one', ['follow', 'jobs']), beat('two', ['webhooks'])];
  await until(
    async () => (await found()).message === '2 alive, none with the role upkeep',
    () => 'two beat',
  );
  beats.push(beat('three', null));
  await until(
    async () => (await found()).level === 'ok',
    () => 'one with every role beats',
  );
  ending.abort();
  await Promise.all(beats);
});
