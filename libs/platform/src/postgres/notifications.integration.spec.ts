import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

describe('a listener', () => {
  it('receives notifications, reports new connections, and leaves none open', async () => {
    const heard: string[] = [];
    let connections = 0;
    const notifications = new Notifications(postgres.databaseUrl, 'test', {
      onNotification: (payload) => heard.push(payload),
      onConnected: () => (connections += 1),
    });
    notifications.start();
    await until(
      () => connections === 1,
      () => 'it is connected',
    );
    await pool.query(`select pg_notify('test', 'one')`);
    await until(
      () => heard.length === 1,
      () => 'it hears',
    );

    await pool.query(`select pg_terminate_backend(pid) ${LISTENERS}`);
    await until(
      () => connections === 2,
      () => 'it connects again',
    );
    await pool.query(`select pg_notify('test', 'two')`);
    await until(
      () => heard.length === 2,
      () => 'it hears again',
    );
    expect(heard).toEqual(['one', 'two']);

    await notifications.stop();
    await until(
      async () => (await pool.query(`select 1 ${LISTENERS}`)).rowCount === 0,
      () => 'its connection is closed',
    );
  });
});
