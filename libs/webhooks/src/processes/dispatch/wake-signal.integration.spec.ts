import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { within } from '#platform/async/within.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import { until } from '../../../../../test/support/integrator.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import { startTcpProxy, type StartedProxy } from '../../../../../test/support/start-tcp-proxy.js';
import { WakeSignal } from './wake-signal.js';

let postgres: StartedPostgres;
let pool: pg.Pool;
let proxy: StartedProxy;
let stopping: AbortController;
let heard: number;
let listening: Promise<void>;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 1 });
  const server = new URL(postgres.databaseUrl);
  proxy = await startTcpProxy(`${server.searchParams.get('host')}/.s.PGSQL.${server.port}`);
  const far = new URL(postgres.databaseUrl);
  far.search = '';
  far.host = `127.0.0.1:${proxy.port}`;

  const wake = new WakeSignal(far.href, 'deliveries');
  stopping = new AbortController();
  heard = 0;
  listening = wake.listen(stopping.signal);
  // Each second it wakes anyway. Only what is notified wakes it before.
  wake.now = () => void (heard += 1);
  await hears();
});

afterAll(async () => {
  stopping?.abort();
  await listening;
  await proxy?.stop();
  await pool?.end();
  await postgres?.stop();
});

const hears = (): Promise<void> => {
  const before = heard;
  return until(
    async () => {
      await pool.query(`select pg_notify('deliveries', '')`);
      return heard > before;
    },
    () => 'it hears of deliveries',
    60_000,
  );
};

it('A worker hears of deliveries again after its connection has fallen silent without an end', async () => {
  proxy.cut();
  await until(
    async () => {
      const before = heard;
      await pool.query(`select pg_notify('deliveries', '')`);
      return heard === before;
    },
    () => 'nothing arrives',
  );
  // Nothing tells either side that the old connection is dead: new ones pass, and the old one stays.
  proxy.passNew();
  await hears();
});

it('A worker whose server has fallen silent stops without waiting for it', async () => {
  await hears();
  proxy.cut();
  stopping.abort();
  const stopped = listening.then(() => 'stopped');
  // Without an answer, it would wait for ever.
  expect(await within(60_000, stopped)).toBe('stopped');
});
