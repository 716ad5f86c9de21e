import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Notifications } from '@app/platform/postgres/notifications.js';
import { Integrator, until } from '../support/integrator.js';
import { RECEIVER_SETTINGS, startReceiver, type Receiver } from '../support/index.js';
import { FALLS, startPostgresPair, type PostgresPair } from '../support/postgres-pair.js';
import { Random } from '../support/random.js';
import { startStores, type StartedProcess, type StartedStores } from '../support/start-processes.js';
import { startLoad, type Load } from './support/load.js';
import { everythingEnds, nothingIsLost, type Aftermath } from './support/nothing-lost.js';

/** The long run: PROMOTIONS=100 npm test -- test/crash/promotions */
const PROMOTIONS = Number(process.env['PROMOTIONS'] ?? FALLS.length);
const SEED = Number(process.env['CRASH_SEED'] ?? 20261123);
const READINGS_A_PROMOTION = 5;
const CREDITS = 1_000_000;
/** Everything is compared with a rebuild after so many promotions, and at the end. */
const LOOK_AT_ALL_EVERY = 10;
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'silent',
  RATE_CREATE_PER_MINUTE: '1000000',
  RATE_CREATE_BURST: '1000000',
  READING_LEASE_MS: '5000',
  WEBHOOK_LEASE_MS: '5000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
  RESERVATION_FENCE_MS: '6000',
  RESERVATION_SWEEP_MS: '1000',
  // As in production: a frozen primary is given up when a statement takes longer.
  DATABASE_QUERY_TIMEOUT_MS: '5000',
  DATABASE_CONNECT_TIMEOUT_MS: '5000',
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

beforeAll(async () => {
  stores = await startStores(SETTINGS, async (...parts) => (pair = await startPostgresPair(...parts)));
  await pair.attach('synchronous');
  processes = await Promise.all(
    (['api', 'api', 'worker', 'worker'] as const).map((name) => stores.start(name)),
  );
  receiver = await startReceiver();
  const { eventStoreUrl, ops } = stores;
  const [first] = processes;
  const customer = await Integrator.open({ baseUrl: first!.baseUrl, eventStoreUrl, ops } as never, CREDITS);
  const endpoint = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
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

describe(`the standby becomes the primary, ${PROMOTIONS} times under load (CRASH_SEED=${SEED})`, () => {
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
    // One that had ended before would not stop with 0 now.
    expect(await Promise.all(processes.map((one) => one.stop()))).toEqual(processes.map(() => 0));
  }, 7_200_000);
});
