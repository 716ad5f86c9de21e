import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Notifications } from '#platform/postgres/notifications.js';
import { Integrator, person, until, untilHandled, untilServed } from '../support/integrator.js';
import { type Finding, type Receiver, RECEIVER_SETTINGS, startReceiver } from '../support/index.js';
import { twoOperators } from '../support/operators.js';
import { OpsProcess } from '../support/ops-process.js';
import { PATIENT } from '../support/patience.js';
import { FALLS, type PostgresPair, startPostgresPair } from '../support/postgres-pair.js';
import { Random } from '../support/random.js';
import { again, isSoak, rounds, seedOr } from '../support/rounds.js';
import { type StartedProcess, type StartedStores, startStores } from '../support/start-processes.js';
import { type Aftermath, everythingEnds, nothingIsLost, nothingWrong, rows } from './support/nothing-lost.js';
import { Orders } from './support/orders.js';

const PROMOTIONS = rounds(1, 30);
const SEED = seedOr(20261123);
const READINGS_A_PROMOTION = 5;
const CREDITS = 1_000_000;
const PATIENCE_MS = 300_000;
/** Everything is compared with a rebuild after so many promotions, and at the end. */
const LOOK_AT_ALL_EVERY = 10;
/** In CI one of each: the promotion is the same for all. */
const PROCESSES = isSoak ? (['api', 'api', 'worker', 'worker'] as const) : (['api', 'worker'] as const);
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'silent',
  RATE_CREATE_PER_MINUTE: '1000000',
  READING_LEASE_MS: '5000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '3000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000,16000,16000,16000,16000,16000,16000,16000',
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
let orders: Orders;
let aftermath: Aftermath;
let listener: Notifications;
const heard = new Set<string>();
/** Runs doctor, which exits with 1 when it finds something. */
let operator: OpsProcess;

beforeAll(async () => {
  stores = await startStores(SETTINGS, {
    startDatabase: async (folder, password, record) =>
      (pair = await startPostgresPair(folder, password, record)),
  });
  await pair.attach('synchronous');
  processes = await Promise.all(PROCESSES.map((name) => stores.start(name)));
  operator = new OpsProcess({ ...stores.environment, ...PATIENT });
  receiver = await startReceiver();
  const callers = processes.filter(({ baseUrl }) => baseUrl !== '');
  const at = ({ baseUrl }: StartedProcess) => ({ ...stores, baseUrl }) as never;
  const customer = await Integrator.open(at(callers[0]!), CREDITS);
  const endpoint = await untilServed(() =>
    customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', { body: { url: receiver.url } }),
  );
  receiver.secret = endpoint.body.signingSecret;
  orders = new Orders(() => customer.at(at(random.pick(callers as [StartedProcess]))));
  aftermath = {
    stack: stores,
    customer,
    receiver,
    get accepted() {
      return orders.readings;
    },
    credits: CREDITS,
  };
  listener = new Notifications(pair.urls.application, 'promotions', {
    onNotification: (payload) => heard.add(payload),
    onConnected: () => undefined,
  });
  listener.start();
});

afterAll(async () => {
  await listener?.stop();
  operator?.stop();
  await Promise.allSettled(processes.map((one) => one.stop()));
  await receiver?.stop();
  await stores?.stop();
});

/** A listener of the service hears again, whatever became of the server it was connected to. */
const listenerHears = (payload: string): Promise<void> =>
  until(
    async () => {
      await rows(stores, `select pg_notify('promotions', '${payload}')`);
      return heard.has(payload);
    },
    () => 'the listener hears the new primary',
  );

describe(`the standby becomes the primary, ${PROMOTIONS} times under load (${again('promotions', PROMOTIONS, SEED)})`, () => {
  it('loses nothing with a synchronous standby, and no process of the service is restarted', async () => {
    const order = (what: string): Promise<void> =>
      orders.order(...Array.from({ length: READINGS_A_PROMOTION }, (_, n) => `${what}-${n}`));
    for (let promotion = 1; promotion <= PROMOTIONS; promotion += 1) {
      const fall = promotion <= FALLS.length ? FALLS[promotion - 1]! : random.pick(FALLS);
      const ordered = order(`before-${promotion}`);
      await delay(random.next() * 1_500);
      await pair.promote(fall);
      await Promise.all([ordered, order(`after-${promotion}`)]);
      await listenerHears(`promotion ${promotion}`);
      await everythingEnds(aftermath);
      if (promotion % LOOK_AT_ALL_EVERY === 0) await nothingIsLost(aftermath);
      if (promotion < PROMOTIONS) await pair.attach('synchronous');
    }
    // In CI the stores are looked at once, at the end of the next test.
    await nothingIsLost(aftermath, isSoak);
    expect(orders.accepted.size).toBe(2 * READINGS_A_PROMOTION * PROMOTIONS);
    expect(orders.complaints).toEqual([]);
  }, 7_200_000);
});

describe('an asynchronous standby becomes the primary', () => {
  it('without its last commits: they are made again, or found, listed and repaid', async () => {
    const { customer } = aftermath;
    const workers = processes.filter(({ baseUrl }) => baseUrl === '');
    let bought = 0;
    const ordered = async (): Promise<string> => {
      const key = { 'idempotency-key': `standby-${(bought += 1)}` };
      return (await untilServed(() => customer.create(person(), key))).body.readingId;
    };
    const [kept, erased] = [await ordered(), await ordered()];
    for (const readingId of [kept, erased]) await customer.untilEnded(readingId);
    await pair.attach('asynchronous');
    await untilHandled(stores);
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
    await untilHandled(stores);
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

    await untilHandled(stores);
    expect((await findings()).filter(({ level }) => level === 'failure')).toEqual([]);
    await nothingWrong(stores);
    expect(processes.map((one) => one.ended())).toEqual(processes.map(() => null));
  }, 900_000);
});

/** What doctor says. */
const findings = async (): Promise<readonly Finding[]> =>
  (JSON.parse((await operator.run(['doctor', '--json'])).stdout) as { findings: Finding[] }).findings;

const rowsOf = async (table: string, column: string, id: string): Promise<number> =>
  (await rows(stores, `select from ${table} where ${column} = '${id}'`)).length;
