import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { until } from '../../../../test/support/integrator.js';
import { Notifications } from './notifications.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 1 });
});

afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

const LISTENERS = `from pg_stat_activity where application_name like '%listens to test'`;

it('A listener receives notifications, reports new connections, and leaves none open', async () => {
  const heard: string[] = [];
  let connections = 0;
  const notifications = new Notifications(postgres.databaseUrl, 'test', {
    onNotification: (payload) => heard.push(payload),
    onConnected: () => (connections += 1),
  });
  const untilTrue = (what: string, holds: () => boolean | Promise<boolean>) => until(holds, () => what);
  notifications.start();
  for (const nr of [1, 2]) {
    await untilTrue('it is connected', () => connections === nr);
    await pool.query(`select pg_notify('test', $1)`, [String(nr)]);
    await untilTrue('it hears', () => heard.length === nr);
    if (nr === 1) await pool.query(`select pg_terminate_backend(pid) ${LISTENERS}`);
  }
  expect(heard).toEqual(['1', '2']);
  await notifications.stop();
  const open = async () => (await pool.query(`select 1 ${LISTENERS}`)).rowCount;
  await untilTrue('its connection is closed', async () => (await open()) === 0);
});
