import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { projectPath } from '#platform/project-path.js';
import { Integrator, person, until } from '../support/integrator.js';
import { RECEIVER_SETTINGS } from '../support/index.js';
import { OpsProcess } from '../support/ops-process.js';
import { startStores, type StartedProcess, type StartedStores } from '../support/start-processes.js';

const DAY_MS = 86_400_000;
const FOLDER = mkdtempSync(join(tmpdir(), 'clock-'));
const SHIFT = join(FOLDER, 'shift');
/** A process whose wall clock is off by what the file says. */
const SHIFTED = {
  SHIFTED_CLOCK_FILE: SHIFT,
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${pathToFileURL(projectPath('test/support/shifted-clock.mjs')).href}`,
};
/** Rounds follow each other closely: what a wrong clock could cause would happen at once. */
const SETTINGS = { LOG_LEVEL: 'fatal', RESERVATION_FENCE_MS: '4000' };

let stores: StartedStores;
let pool: pg.Pool;
let ops: OpsProcess;
let api: StartedProcess;
let customer: Integrator;
const started: StartedProcess[] = [];

const start = async (...asked: Parameters<StartedStores['start']>): Promise<StartedProcess> => {
  const one = await stores.start(...asked);
  started.push(one);
  return one;
};
const shiftClock = (ms: number): void => writeFileSync(SHIFT, String(ms));
const reported = async (where: string): Promise<boolean> =>
  (await pool.query(`select from platform.heartbeat where ${where}`)).rowCount !== 0;
const book = async (): Promise<{ type: string; occurredAt: string }[]> =>
  (
    (await stores.ops(['streams', 'show', `credits-${customer.workspaceId}`])) as {
      events: { type: string; occurredAt: string }[];
    }
  ).events;
const types = async () => (await book()).map(({ type }) => type);
const readiness = async (of: StartedProcess) => {
  const answer = await fetch(`${of.baseUrl}/readyz`);
  const { checks } = (await answer.json()) as { checks: Record<string, boolean> };
  return { status: answer.status, checks };
};
/** What the doctor finds. The store of a test has no TLS, and consumers that change books wait. */
const doctorFinds = async () => {
  const { stdout } = await ops.run(['doctor', '--json']);
  const { findings } = JSON.parse(stdout) as {
    findings: { check: string; level: string; message: string }[];
  };
  return findings.filter(({ check, level }) => level !== 'ok' && !/^(event store|lag of)/.test(check));
};

beforeAll(async () => {
  shiftClock(0);
  stores = await startStores(SETTINGS);
  pool = new pg.Pool({ connectionString: stores.databaseUrl, max: 1 });
  // A connection that the test ends itself.
  pool.on('error', () => undefined);
  ops = new OpsProcess(stores.environment);
  api = await start('api');
  customer = await Integrator.open({ baseUrl: api.baseUrl, ops: stores.ops } as never, 0);
  await stores.ops(['plan', 'subscribe', '--workspace', customer.workspaceId, '--plan', 'studio']);
});

afterAll(async () => {
  await Promise.allSettled(started.map((one) => one.stop()));
  ops?.stop();
  await pool?.end();
  await stores?.stop();
  rmSync(FOLDER, { recursive: true, force: true });
});

describe('processes whose clock is 40 days ahead', () => {
  let worker: StartedProcess;
  let aheadApi: StartedProcess;
  let readingId: string;

  it('grant, expire, close and generate nothing', async () => {
    shiftClock(40 * DAY_MS);
    [worker, aheadApi] = await Promise.all([start('worker', SHIFTED), start('api', SHIFTED)]);
    // The key is known once the worker has projected it.
    await until(
      async () => (await customer.call('GET', '/api/v1/credits')).status === 200,
      () => 'the key is known',
    );
    const { status, body } = await customer.create(person());
    expect(status).toBe(202);
    readingId = body.readingId;
    await until(
      async () =>
        (await reported(`role = 'worker' and ahead_ms > ${39 * DAY_MS}`)) &&
        reported(`role = 'api' and ahead_ms > ${39 * DAY_MS}`),
      () => 'both report that they are ahead',
    );
    // The projections go on, so idle books and the job are known to the worker.
    await until(
      async () => (await pool.query('select from billing.hold')).rowCount === 1,
      () => 'the hold is projected',
    );
    expect(await types()).toEqual(['BookOpened', 'SubscriptionStarted', 'PlanGranted', 'CreditsReserved']);
    expect((await customer.call('GET', `/api/v1/readings/${readingId}`)).body['status']).toBe('queued');
  });

  it('are found by the others, and refuse what needs the time; reads stay available', async () => {
    expect(await doctorFinds()).toMatchObject([
      {
        check: 'clock',
        level: 'warning',
        message: expect.stringMatching(/worker on .* \(40 days ahead of PostgreSQL\)/),
      },
    ]);
    const ahead = Object.assign(Object.create(customer) as Integrator, { baseUrl: aheadApi.baseUrl });
    const refused = await ahead.create(person());
    expect([refused.status, refused.body['code'], refused.headers.get('retry-after')]).toEqual([
      503,
      'enqueue_unavailable',
      '5',
    ]);
    expect((await ahead.call('GET', `/api/v1/readings/${readingId}`)).status).toBe(200);
    expect((await ahead.call<{ available: number }>('GET', '/api/v1/credits')).body.available).toBe(380);
    const onlyClock = { clock: false, eventStore: true, postgres: true, worker: true, consumers: true };
    let seen: Awaited<ReturnType<typeof readiness>> | undefined;
    // A busy machine misses the time limit of a check for a moment.
    await until(
      async () => {
        seen = await readiness(aheadApi);
        return Object.entries(onlyClock).every(([name, passes]) => seen?.checks[name] === passes);
      },
      () => `only the clock is wrong: ${JSON.stringify(seen)}`,
    );
    expect(seen?.status).toBe(503);
    await until(
      async () => (await readiness(api)).status === 200,
      () => 'the other API is ready',
    );
  });

  it('resume by themselves when it is set right', async () => {
    shiftClock(0);
    expect((await customer.untilEnded(readingId)).status).toBe('completed');
    await until(
      async () => (await types()).includes('CreditsCaptured'),
      () => 'the credits are captured',
    );
    const entries = await book();
    expect(entries.map(({ type }) => type).slice(4)).toEqual(['CreditsCaptured']);
    expect(entries.filter(({ occurredAt }) => Date.parse(occurredAt) > Date.now())).toEqual([]);
    // An API looks at the clocks at intervals of its own.
    await until(
      async () => (await readiness(aheadApi)).status === 200,
      () => 'the API is ready again',
    );
    const verify = ['ledger', 'verify', '--workspace', customer.workspaceId];
    expect(await stores.ops(verify)).toMatchObject({ ok: true, books: [{ findings: [] }] });
    await Promise.all([worker.stop(), aheadApi.stop()]);
  });
});

it('An API whose clock is an hour behind takes what does not need the time: its appends are in time for the store', async () => {
  shiftClock(-3_600_000);
  const api = await start('api', { ...SHIFTED, ...RECEIVER_SETTINGS });
  const behind = Object.assign(Object.create(customer) as Integrator, { baseUrl: api.baseUrl });
  await until(
    async () => !(await readiness(api)).checks['clock'],
    () => 'it sees that it is behind',
  );
  const body = { url: 'http://127.0.0.1:9999/hook' };
  expect(await behind.call('POST', '/api/v1/webhooks', { body })).toMatchObject({ status: 201 });
  shiftClock(0);
  await api.stop();
});

/** Shadows the functions that tell the time, for every session that begins from now on, and ends the present ones. */
const shiftPostgres = async (interval: string | null): Promise<void> => {
  const database = new URL(stores.databaseUrl).pathname.slice(1);
  if (interval === null) await pool.query(`alter database ${database} reset search_path`);
  else {
    await pool.query(`create schema skewed; grant usage on schema skewed to public`);
    for (const name of ['now', 'clock_timestamp'])
      await pool.query(
        `create function skewed.${name}() returns timestamptz language sql volatile
         as $$ select pg_catalog.${name}() + interval '${interval}' $$`,
      );
    await pool.query(`alter database ${database} set search_path = skewed, public, pg_catalog`);
  }
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
    [database],
  );
};

describe('PostgreSQL whose clock is 22 days ahead', () => {
  it('times out no reading, is found, and is recovered from', async () => {
    const follower = await start('worker', { WORKER_ROLES: 'follow' });
    const { body } = await customer.create(person());
    await until(
      async () =>
        (await pool.query(`select from graphile_worker.jobs where task_identifier = 'readings.time-out'`))
          .rowCount === 1,
      () => 'the time-out waits for its day',
    );
    await shiftPostgres('22 days');
    const worker = await start('worker', { WORKER_ROLES: 'jobs,webhooks,upkeep' });
    await until(
      async () =>
        (await pool.query(`select from platform.heartbeat where ahead_ms < ${-21 * DAY_MS}`)).rowCount === 3,
      () => 'the API and both workers report that they are behind PostgreSQL',
    );
    await until(
      async () => !(await readiness(api)).checks['clock'],
      () => 'the API sees it',
    );
    expect(await doctorFinds()).toMatchObject([
      {
        check: 'clock',
        level: 'failure',
        message: expect.stringMatching(/^The clock of PostgreSQL is 22 days ahead of .*, and is wrong$/),
      },
    ]);
    expect((await customer.create(person())).status).toBe(503);
    expect(await ops.run(['ledger', 'reconcile', '--all'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Nothing was done: the clock of PostgreSQL is 22 days ahead/),
    });
    await shiftPostgres(null);
    expect((await customer.untilEnded(body.readingId)).status).toBe('completed');
    await until(
      async () => (await readiness(api)).checks['clock'] === true,
      () => 'the API trusts the clocks again',
    );
    await Promise.all([follower.stop(), worker.stop()]);
  });
});
