import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { projectPath } from '#platform/project-path.js';
import { ALL_DELIVERIES } from '#webhooks/read-models/delivery-sql.js';
import {
  fixture,
  RECEIVER_SETTINGS,
  startReceiver,
  type Finding,
  type StartedProcess,
} from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { OpsProcess } from '../support/ops-process.js';
import { startStores, type StartedStores } from '../support/start-processes.js';

const DAY_MS = 86_400_000;
const FOLDER = mkdtempSync(join(tmpdir(), 'clock-'));
const SHIFT = join(FOLDER, 'shift');
/** A process whose wall clock is off by what the file says. */
const SHIFTED = {
  SHIFTED_CLOCK_FILE: SHIFT,
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${pathToFileURL(projectPath('test/support/shifted-clock.mjs')).href}`,
};
/** No limit interferes. */
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'fatal',
  RATE_CREATE_PER_MINUTE: '1000000',
  RATE_READ_PER_MINUTE: '1000000',
};

const started = new Set<StartedProcess>();
// Before the stores stop, on which they run.
afterAll(async () => {
  await stop(...started);
  await pool.end();
  rmSync(FOLDER, { recursive: true, force: true });
});
/** Rounds follow each other closely: what a wrong clock could cause would happen at once. */
const CLOSELY = { RESERVATION_FENCE_MS: '4000' };

const stores = fixture(() => startStores(SETTINGS));
const pool = fixture(
  async () => {
    const opened = new pg.Pool({ connectionString: stores.databaseUrl, max: 1 });
    // A connection that the test ends itself.
    opened.on('error', () => undefined);
    return opened;
  },
  () => undefined,
);
const start = async (...asked: Parameters<StartedStores['start']>): Promise<StartedProcess> => {
  const one = await stores.start(...asked);
  started.add(one);
  return one;
};
const stop = (...those: StartedProcess[]) => Promise.all(those.map((one) => one.stop()));
let api: StartedProcess;
/** Follows the clock of the file. */
let shifted: StartedProcess;
/** @returns a customer of the service, at its first API */
const open = (credits: number) => {
  const { eventStoreUrl, dataDir, ops } = stores;
  return Integrator.open({ baseUrl: api.baseUrl, eventStoreUrl, dataDir, ops } as never, credits);
};
beforeAll(async () => {
  writeFileSync(SHIFT, '0');
  api = await start('api');
});

describe('clocks', () => {
  let ops: OpsProcess;
  let customer: Integrator;
  const shiftClock = (ms: number): void => writeFileSync(SHIFT, String(ms));
  const reported = async (where: string): Promise<number> =>
    (await pool.query(`select from platform.heartbeat where ${where}`)).rows.length;
  const book = async () =>
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
  /** A busy machine misses the time limit of a check for a moment. */
  const untilTrusted = (of: StartedProcess, trusted: boolean) =>
    until(
      async () => (await readiness(of)).checks['clock'] === trusted,
      `an API trusts the clocks: ${trusted}`,
    );
  /** What the doctor finds. The store of a test has no TLS, and consumers that change books wait. */
  const doctorFinds = async () => {
    const { stdout } = await ops.run(['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return findings.filter(({ check, level }) => level !== 'ok' && !/^(event store|lag of)/.test(check));
  };

  beforeAll(async () => {
    ops = new OpsProcess(stores.environment);
    customer = await open(0);
    await stores.ops(['plan', 'subscribe', '--workspace', customer.workspaceId, '--plan', 'studio']);
  });
  afterAll(() => ops?.stop());

  describe('of processes that are 40 days ahead', () => {
    let worker: StartedProcess;
    let readingId: string;

    it('grant, expire, close and generate nothing', async () => {
      shiftClock(40 * DAY_MS);
      const settings = { ...SHIFTED, ...CLOSELY };
      [worker, shifted] = await Promise.all([start('worker', settings), start('api', settings)]);
      // The key is known once the worker has projected it.
      const known = async () => (await customer.call('GET', '/api/v1/credits')).status === 200;
      await until(known, 'the key is known');
      const { status, body } = await customer.create();
      expect(status).toBe(202);
      readingId = body.readingId;
      for (const role of ['worker', 'api']) {
        const isAhead = `role = '${role}' and ahead_ms > ${39 * DAY_MS}`;
        await until(async () => (await reported(isAhead)) > 0, `the ${role} reports that it is ahead`);
      }
      // The projections go on, so idle books and the job are known to the worker.
      const holds = async () => (await pool.query('select from billing.hold')).rows.length;
      await until(async () => (await holds()) === 1, 'the hold is projected');
      expect(await types()).toEqual(['BookOpened', 'SubscriptionStarted', 'PlanGranted', 'CreditsReserved']);
      expect((await customer.reading(readingId)).status).toBe('queued');
    });

    it('are found by the others, and refuse what needs the time; reads stay available', async () => {
      const message = expect.stringMatching(/worker on .* \(40 days ahead of PostgreSQL\)/);
      expect(await doctorFinds()).toMatchObject([{ check: 'clock', level: 'warning', message }]);
      const ahead = customer.at(customer.stack, shifted.baseUrl);
      const { status, body, headers } = await ahead.create();
      expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'enqueue_unavailable', '5']);
      expect((await ahead.reading(readingId)).readingId).toBe(readingId);
      expect((await ahead.call('GET', '/api/v1/credits')).body).toMatchObject({ available: 380 });
      // A consumer that waits for the clock is late in the end.
      const onlyClock = { clock: false, eventStore: true, postgres: true, worker: true };
      let seen: Awaited<ReturnType<typeof readiness>> | undefined;
      await until(
        async () => {
          seen = await readiness(shifted);
          return Object.entries(onlyClock).every(([name, passes]) => seen?.checks[name] === passes);
        },
        () => `only the clock is wrong: ${JSON.stringify(seen)}`,
      );
      expect(seen?.status).toBe(503);
      await until(async () => (await readiness(api)).status === 200, 'the other API is ready');
    });

    it('resume by themselves when they are set right', async () => {
      shiftClock(0);
      expect((await customer.untilEnded(readingId)).status).toBe('completed');
      await until(async () => (await types()).includes('CreditsCaptured'), 'the credits are captured');
      const entries = await book();
      expect(entries.map(({ type }) => type).slice(4)).toEqual(['CreditsCaptured']);
      expect(entries.filter(({ occurredAt }) => Date.parse(occurredAt) > Date.now())).toEqual([]);
      // An API looks at the clocks at intervals of its own.
      await until(async () => (await readiness(shifted)).status === 200, 'the API is ready again');
      const verify = ['ledger', 'verify', '--workspace', customer.workspaceId];
      expect(await stores.ops(verify)).toMatchObject({ ok: true, books: [{ findings: [] }] });
      await stop(worker);
    });
  });

  it('of an API that is an hour behind: it takes what does not need the time, and appends in time for the store', async () => {
    shiftClock(-3_600_000);
    await untilTrusted(shifted, false);
    await customer.at(customer.stack, shifted.baseUrl).endpoint('http://127.0.0.1:9999/hook');
    shiftClock(0);
    await untilTrusted(shifted, true);
  });
});

describe('two APIs and two workers on one event store and one database', () => {
  /** Workers with different roles. */
  const ROLES = ['follow,jobs', 'webhooks,upkeep'];
  /** Readings that customers order while a process restarts: enough that it interrupts work. */
  const READINGS_A_RESTART = 5;
  const CREDITS = 1_000_000;

  const receiver = fixture(startReceiver);
  const accepted = new Set<string>();
  let apis: StartedProcess[];
  let workers: StartedProcess[];
  let customer: Integrator;
  let endpointId: string;

  beforeAll(async () => {
    apis = [api, shifted];
    workers = await Promise.all(ROLES.map((roles) => start('worker', { WORKER_ROLES: roles })));
    customer = await open(CREDITS);
    endpointId = await customer.endpoint(receiver);
  });

  /** As customers who call any available API, and retry with the same key until they have an answer. */
  const buy = async (key: string): Promise<void> => {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const at = customer.at(customer.stack, apis[attempt % apis.length]!.baseUrl);
      const asked = await at.create(person(), { 'idempotency-key': key }).catch(() => null);
      if (asked?.status === 202) return void accepted.add(asked.body.readingId);
      await delay(50);
    }
    throw new Error('No API accepts');
  };

  it('lose nothing while each process is restarted under load', async () => {
    const exitCodes: (number | null)[] = [];
    const restart = async (
      those: StartedProcess[],
      index: number,
      another: () => Promise<StartedProcess>,
    ): Promise<void> => {
      const round = exitCodes.length;
      const ordered = Array.from({ length: READINGS_A_RESTART }, async (_, n) => {
        await delay(n * 250);
        await buy(`${round}-${n}`);
      });
      await delay(500);
      exitCodes.push(await those[index]!.stop());
      those[index] = await another();
      await Promise.all(ordered);
    };
    await restart(apis, 0, () => start('api'));
    for (const [index, roles] of ROLES.entries())
      await restart(workers, index, () => start('worker', { WORKER_ROLES: roles }));
    customer = customer.at(customer.stack, apis[0]!.baseUrl);

    // A process that does not stop in time exits with 1.
    expect(exitCodes).toEqual([0, 0, 0]);
    expect(accepted.size).toBe(READINGS_A_RESTART * exitCodes.length);

    type Row = { reading_id: string; status: string; published_at: Date | null };
    const ofCustomer = 'select * from readings.reading where workspace_id = $1';
    const readings = async () => (await pool.query<Row>(ofCustomer, [customer.workspaceId])).rows;
    const isOpen = ({ status, published_at: at }: Row) => status !== 'failed' && at === null;
    await until(async () => !(await readings()).some(isOpen), 'every reading ends');
    const completed = (await readings()).filter(({ status }) => status === 'completed');
    expect(new Set(completed.map(({ reading_id: id }) => id))).toEqual(accepted);

    const consumed = 20 * accepted.size;
    await customer.untilConsumed(consumed);
    expect(await customer.balance()).toMatchObject({ held: 0, available: CREDITS - consumed });
    const told = () => new Set(receiver.received.map(({ event }) => event.id)).size;
    await until(
      () => told() >= 2 * accepted.size,
      () => `${told()} of ${2 * accepted.size} events arrive`,
    );
    expect(told()).toBe(2 * accepted.size);
    expect(receiver.received.every(({ verified }) => verified)).toBe(true);
    const made = await pool.query(`select from ${ALL_DELIVERIES} where endpoint_id = $1`, [endpointId]);
    expect(made.rows).toHaveLength(2 * accepted.size);
  });
});
