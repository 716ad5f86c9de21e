import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import { until } from '../../../../test/support/integrator.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { Notifications } from './notifications.js';
import { openPool, transaction } from './pool.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 3, applicationName: 'pool spec', onError: () => undefined });
  await pool.query('create table note (text text primary key)');
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const terminate = async (pid: number): Promise<void> => {
  await pool.query('select pg_terminate_backend($1, 5000)', [pid]);
};
const pidOf = async (client: pg.PoolClient) =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
const notes = async () =>
  (await pool.query<{ text: string }>('select text from note order by text')).rows.map(({ text }) => text);

describe('transaction', () => {
  it('commits what its work wrote, or rolls back when it throws, and returns the connection', async () => {
    for (let round = 0; round < 5; round += 1) {
      const work = transaction(pool, async (client) => {
        await client.query(`insert into note values ('lost')`);
        throw new RangeError('no');
      });
      await expect(work).rejects.toThrow(RangeError);
    }
    const insert = `insert into note values ('committed') returning text`;
    expect((await transaction(pool, (client) => client.query(insert))).rowCount).toBe(1);
    expect(await notes()).toEqual(['committed']);
  });

  it('fails as an unavailable dependency when its connection is killed, and the process survives', async () => {
    const between = transaction(pool, async (client) => {
      await terminate(await pidOf(client));
      await client.query(`insert into note values ('lost')`);
    });
    const during = transaction(pool, async (client) => {
      const pid = await pidOf(client);
      await Promise.all([client.query('select pg_sleep(20)'), terminate(pid)]);
    });
    for (const result of await Promise.allSettled([between, during])) {
      expect(result.status).toBe('rejected');
      expect(isDependencyAway((result as PromiseRejectedResult).reason)).toBe(true);
    }
    expect(await notes()).toEqual(['committed']);
  });

  it('of a frozen process ends after its longest pause, as an unavailable dependency, and frees its locks', async () => {
    const process = new EventEmitter();
    const [locked, thawed] = [once(process, 'locked'), once(process, 'thawed')];
    const frozen = transaction(
      pool,
      async (client) => {
        await client.query('lock table note in access exclusive mode');
        process.emit('locked');
        await thawed;
        await client.query('select');
      },
      // More than a slow machine takes between the beginning and the lock.
      { longestPauseMs: 3_000 },
    ).catch((error: unknown) => error);
    await locked;
    expect(await notes()).toEqual(['committed']);
    process.emit('thawed');
    expect(isDependencyAway(await frozen)).toBe(true);
    expect((await pool.query('show idle_in_transaction_session_timeout')).rows).toEqual([
      { idle_in_transaction_session_timeout: '0' },
    ]);
  });
});

describe('a query without an answer', () => {
  it('fails as an unavailable dependency, and its connection is not reused', async () => {
    const impatient = openPool(postgres.databaseUrl, {
      size: 1,
      applicationName: 'impatient',
      onError: () => undefined,
      queryTimeoutMs: 200,
    });
    const failed: unknown = await impatient.query('select pg_sleep(600)').catch((error: unknown) => error);
    expect(isDependencyAway(failed)).toBe(true);
    // On a slow machine a new connection may take longer than the limit, too. One that sleeps never answers.
    await until(
      async () => (await impatient.query<{ one: number }>('select 1 as one')).rows[0]!.one === 1,
      () => 'another connection answers',
    );
    await impatient.end();
  });
});

describe('a session of a client with a longest wait', () => {
  const sessions = async (name: string) =>
    (
      await pool.query<{ pid: number; waits: boolean }>(
        `select pid, wait_event_type = 'Lock' as waits from pg_stat_activity where application_name = $1`,
        [name],
      )
    ).rows;

  it('gives up a lock first, so that retries leave no sessions behind', async () => {
    const blocked = openPool(postgres.databaseUrl, {
      size: 3,
      applicationName: 'blocked',
      onError: () => undefined,
      queryTimeoutMs: 500,
    });
    await transaction(pool, async (holder) => {
      await holder.query('lock table note in access exclusive mode');
      for (let retry = 0; retry < 3; retry += 1) {
        const failed: unknown = await blocked.query('select from note').catch((error: unknown) => error);
        expect(isDependencyAway(failed)).toBe(true);
      }
      expect((await sessions('blocked')).filter(({ waits }) => waits).length).toBeLessThanOrEqual(1);
    });
    await blocked.end();
  });

  it('ends when its client is gone', async () => {
    const leaving = openPool(postgres.databaseUrl, {
      size: 1,
      applicationName: 'leaving',
      onError: () => undefined,
      queryTimeoutMs: 200,
    });
    await leaving.query('select pg_sleep(30)').catch(() => undefined);
    // Before it has slept.
    const deadline = Date.now() + 25_000;
    while ((await sessions('leaving')).length > 0 && Date.now() < deadline) await delay(50);
    expect(await sessions('leaving')).toEqual([]);
    await leaving.end();
  });
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
