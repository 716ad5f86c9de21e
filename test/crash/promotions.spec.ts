import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Notifications } from '#platform/postgres/notifications.js';
import { Integrator, person, until, untilServed } from '../support/integrator.js';
import { type Receiver, RECEIVER_SETTINGS, startReceiver } from '../support/index.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { twoOperators } from '../support/operators.js';
import { OpsProcess } from '../support/ops-process.js';
import { PATIENT } from '../support/patience.js';
import type { Finding } from '../../apps/ops/src/commands/doctor-stores.js';
import { FALLS, type PostgresPair, startPostgresPair } from '../support/postgres-pair.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { type StartedProcess, type StartedStores, startStores } from '../support/start-processes.js';
import { type Load, startLoad } from './support/load.js';
import { type Aftermath, everythingEnds, nothingIsLost } from './support/nothing-lost.js';

const PROMOTIONS = rounds(1, 30);
const SEED = seedOr(20261123);
const READINGS_A_PROMOTION = 5;
const CREDITS = 1_000_000;
const PATIENCE_MS = 300_000;
/** Everything is compared with a rebuild after so many promotions, and at the end. */
const LOOK_AT_ALL_EVERY = 10;
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'silent',
  RATE_CREATE_PER_MINUTE: '1000000',
  READING_LEASE_MS: '5000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '3000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
  RESERVATION_FENCE_MS: '6000',
  // As in production: a frozen primary is given up when a statement takes longer.
  DATABASE_QUERY_TIMEOUT_MS: '5000',
};

/** The seed makes a failure repeatable. */
const random = new Random(SEED);
let pair: PostgresPair;
let stores: StartedStores;
let processes: StartedProcess[] = [];
let receiver: Receiver;
let load: Load;
let aftermath: Aftermath;
let listener: Notifications;
const heard = new Set<string>();
/** Runs doctor, which exits with 1 when it finds something. */
let operator: OpsProcess;
const scratch = temporaryDataDir();

beforeAll(async () => {
  stores = await startStores(SETTINGS, {
    startDatabase: async (folder, password, record) =>
      (pair = await startPostgresPair(folder, password, record)),
  });
  await pair.attach('synchronous');
  processes = await Promise.all(
    (['api', 'api', 'worker', 'worker'] as const).map((name) => stores.start(name)),
  );
  operator = new OpsProcess({ ...stores.environment, ...PATIENT });
  receiver = await startReceiver();
  const { eventStoreUrl, dataDir, ops } = stores;
  const [first] = processes;
  const customer = await Integrator.open(
    { baseUrl: first!.baseUrl, eventStoreUrl, dataDir, ops } as never,
    CREDITS,
  );
  const endpoint = await untilServed(() =>
    customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', { body: { url: receiver.url } }),
  );
  receiver.secret = endpoint.body.signingSecret;
  const urls = processes.slice(0, 2).map(({ baseUrl }) => baseUrl);
  load = startLoad(() => urls, customer, 'promotion');
  aftermath = { stack: stores, customer, receiver, accepted: load.accepted, credits: CREDITS };
  listener = new Notifications(pair.urls.application, 'promotions', {
    onNotification: (payload) => heard.add(payload),
    onConnected: () => undefined,
  });
  listener.start();
});

afterAll(async () => {
  await listener?.stop();
  operator?.stop();
  removeDataFolder(scratch);
  await Promise.allSettled(processes.map((one) => one.stop()));
  await receiver?.stop();
  await stores?.stop();
});

/** A listener of the service hears again, whatever became of the server it was connected to. */
const listenerHears = (payload: string): Promise<void> =>
  until(
    async () => {
      const client = new pg.Client({ connectionString: pair.urls.application });
      client.on('error', () => undefined);
      await client.connect();
      try {
        await client.query('select pg_notify($1, $2)', ['promotions', payload]);
      } finally {
        await client.end();
      }
      return heard.has(payload);
    },
    () => 'the listener hears the new primary',
  );

describe(`the standby becomes the primary, ${PROMOTIONS} times under load (${again('promotions', PROMOTIONS, SEED)})`, () => {
  it('loses nothing with a synchronous standby, and no process of the service is restarted', async () => {
    for (let promotion = 1; promotion <= PROMOTIONS; promotion += 1) {
      const fall = promotion <= FALLS.length ? FALLS[promotion - 1]! : random.pick(FALLS);
      const ordered = load.order(READINGS_A_PROMOTION);
      await delay(random.next() * 1_500);
      await pair.promote(fall);
      await Promise.all([ordered, load.order(READINGS_A_PROMOTION)]);
      await listenerHears(`promotion ${promotion}`);
      await everythingEnds(aftermath);
      await pair.attach('synchronous');
      if (promotion % LOOK_AT_ALL_EVERY === 0) await nothingIsLost(aftermath);
    }
    await nothingIsLost(aftermath);
    expect(load.accepted.size).toBe(2 * READINGS_A_PROMOTION * PROMOTIONS);
    expect([...load.answers.keys()].filter((status) => ![202, 503].includes(status))).toEqual([]);
  }, 7_200_000);
});

describe('an asynchronous standby becomes the primary', () => {
  it('without its last commits: they are made again, or found, listed and repaid', async () => {
    const { customer } = aftermath;
    const workers = processes.filter(({ baseUrl }) => baseUrl === '');
    let orders = 0;
    const ordered = async (): Promise<string> => {
      const key = { 'idempotency-key': `standby-${(orders += 1)}` };
      return (await untilServed(() => customer.create(person(), key))).body.readingId;
    };
    const [kept, erased] = [await ordered(), await ordered()];
    for (const readingId of [kept, erased]) await customer.untilEnded(readingId);
    // Only one standby is attached at a time.
    await pair.detach();
    await pair.attach('asynchronous');
    await settled();
    const before = await customer.balance();

    await pair.detach();
    const lost = await ordered();
    await customer.untilEnded(lost);
    await untilServed(() => customer.call('POST', `/api/v1/readings/${kept}/document/republish`));
    await until(
      async () => (await customer.reading(kept)).document.version === 2,
      () => 'a second version is published',
    );
    expect(await operator.json(['erase', erased, '--yes'])).toMatchObject({ outcome: 'erased' });
    for (const { pid } of workers) process.kill(pid, 'SIGSTOP');
    const queued = await ordered();
    const other = await startReceiver();
    const endpoint = await untilServed(() =>
      customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
        body: { url: other.url, events: ['reading.failed'] },
      }),
    );
    expect(endpoint.status).toBe(201);
    await pair.promote('killed');
    for (const { pid } of workers) process.kill(pid, 'SIGCONT');

    // What the log knows is done again; what only PostgreSQL knew is gone.
    expect(await customer.untilEnded(queued)).toMatchObject({
      status: 'failed',
      error: { code: 'input_unprocessable' },
    });
    await settled();
    expect(await customer.balance()).toMatchObject({ available: before.available - 20, held: 0 });
    const result = await untilServed(() => customer.call('GET', `/api/v1/readings/${erased}/result`));
    expect(result.status).toBe(410);
    expect(await rowsOf('platform.subject_key', 'subject_id', erased)).toBe(0);
    const failed = (await findings()).filter(({ level }) => level === 'failure');
    expect(failed.map(({ check, message }) => [check, message.split(':')[0]])).toEqual([
      ['documents', expect.stringContaining(kept)],
      ['keys of readings', expect.stringContaining(lost)],
      ['webhook secrets', expect.stringContaining(endpoint.body.endpointId)],
    ]);

    // The second version is made again, with the same bytes.
    expect(await rowsOf('publishing.artifact', 'reading_id', kept)).toBe(3);
    expect(await operator.json(['publications', 'remake', '--all', '--yes'])).toMatchObject({
      versions: [{ readingId: kept, version: 2, outcome: 'remade' }],
    });
    expect(await rowsOf('publishing.artifact', 'reading_id', kept)).toBe(6);
    // A new secret: what waited is sent.
    const rotated = await untilServed(() =>
      customer.call<{ signingSecret: string }>(
        'POST',
        `/api/v1/webhooks/${endpoint.body.endpointId}/rotate-secret`,
        { body: {} },
      ),
    );
    other.secret = rotated.body.signingSecret;
    await other.waitFor(({ event, verified }) => event.readingId === queued && verified, PATIENCE_MS);
    await other.stop();
    // A reading without its key is repaid, then recorded as erased.
    const found = await operator.run(['readings', 'unreadable', '--json']);
    expect(JSON.parse(found.stdout)).toMatchObject({ readings: [{ readingId: lost, cause: 'key' }] });
    const { correct } = twoOperators({
      runOps: (args, settings) => operator.run(args, settings),
      dataDir: stores.dataDir,
    });
    const refund = ['readings', 'refund', '--all', '--reason', 'INC-42', '--yes'];
    expect(await correct(refund)).toMatchObject({ outcome: 'booked', refusals: [] });
    expect(await customer.balance()).toMatchObject({ available: before.available, held: 0 });
    expect(await operator.json(['erase', lost, '--yes'])).toMatchObject({ outcome: 'erased' });

    await settled();
    expect((await findings()).filter(({ level }) => level === 'failure')).toEqual([]);
    const verified = await operator.run(['ledger', 'verify', '--all', '--json']);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
    const replay = (await stores.ops(['projections', 'replay', '--all'])) as {
      replayed: { differences: number }[];
    };
    expect(replay.replayed.filter(({ differences }) => differences > 0)).toEqual([]);
    expect(processes.map((one) => one.ended())).toEqual(processes.map(() => null));
  }, 900_000);
});

const settled = (): Promise<void> =>
  until(
    async () => {
      const { consumers } = (await stores.ops(['projections', 'lag'])) as { consumers: { events: number }[] };
      return consumers.every(({ events }) => events === 0);
    },
    () => 'the consumers are caught up',
  );

/** What doctor says, of one check or of all. */
const findings = async (check?: string): Promise<readonly Finding[]> => {
  const { stdout } = await operator.run(['doctor', '--json']);
  const all = (JSON.parse(stdout) as { findings: Finding[] }).findings;
  return check === undefined ? all : all.filter((finding) => finding.check === check);
};

const rowsOf = async (table: string, column: string, id: string): Promise<number> => {
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  try {
    return (await client.query(`select from ${table} where ${column} = $1`, [id])).rowCount!;
  } finally {
    await client.end();
  }
};
