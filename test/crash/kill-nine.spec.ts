import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../support/random.js';
import { Integrator, person, until } from '../support/integrator.js';
import { again, isSoak, rounds, seedOr } from '../support/rounds.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { nothingIsLost } from './support/nothing-lost.js';

const KILLS = rounds(5, 300);
const READINGS = isSoak ? 17 * KILLS : 30;
const SEED = seedOr(20261120);
const CREDITS = 1_000_000;
const CALLERS = 4;
/** The stack gives up a process that ends more often within a minute. After a restart of the stack it counts again. */
const KILLS_OF_ONE = 4;
const VICTIMS = ['api', 'worker', 'event-store', 'postgres', 'everything'] as const;
type Victim = (typeof VICTIMS)[number];
/** Short leases, so that another process soon takes over from a killed one. */
const IMPATIENT = {
  ...RECEIVER_SETTINGS,
  READING_LEASE_MS: '3000',
  WEBHOOK_LEASE_MS: '4000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '2000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
  RESERVATION_FENCE_MS: '4000',
  RESERVATION_SWEEP_MS: '1000',
};

/** The seed makes a failure repeatable. */
const random = new Random(SEED);

const dataDir = temporaryDataDir();
/** Accepted readings by Idempotency-Key. */
const accepted = new Map<string, string>();
let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack({ env: IMPATIENT, dataDir });
  customer = await Integrator.open(stack, CREDITS);
  receiver = await startReceiver();
  const endpoint = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
  receiver.secret = endpoint.body.signingSecret;
});

afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
  removeDataFolder(dataDir);
});

/** Requests a reading until it is accepted. After a lost answer it retries with the same key. */
const request = async (key: string): Promise<void> => {
  for (;;) {
    const answer = await customer.create(person(), { 'idempotency-key': key }).catch(() => null);
    if (answer?.status === 202) return void accepted.set(key, answer.body.readingId);
    if (answer) expect(answer.status).toBe(503);
    await delay(50);
  }
};

/** Requests as many readings as are allowed so far, and resolves with the last of them. */
const load = async (allowed: () => number): Promise<void> => {
  let asked = 0;
  const caller = async (): Promise<void> => {
    while (asked < READINGS) {
      if (asked < allowed()) await request(`crash-${(asked += 1)}`);
      else await delay(20);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
};

const kill = async (victim: Victim): Promise<void> => {
  if (victim === 'everything') {
    await stack.killAll();
    stack = await startStack({ env: IMPATIENT, dataDir });
    customer = customer.at(stack);
    return;
  }
  const pid = stack.pids()[victim];
  process.kill(pid, 'SIGKILL');
  // The stack may tell of another restart while this one is not there.
  await until(
    () => ![undefined, pid].includes(stack.pids()[victim]),
    () => `${victim} has restarted`,
  );
};

describe(`kill -9 of any process, ${KILLS} times during ${READINGS} readings (${again('kill-nine', KILLS, SEED)})`, () => {
  it('loses nothing: every reading ends, all credits are accounted for, all events are delivered in order', async () => {
    let killed = 0;
    let sinceStart: Victim[] = [];
    const loading = load(() => Math.ceil((READINGS * (killed + 1)) / KILLS));
    while (killed < KILLS) {
      await delay(100 + random.next() * 1_500);
      // Each of them once, also in a short run.
      let victim: Victim = VICTIMS[killed] ?? random.pick(VICTIMS);
      if (sinceStart.filter((one) => one === victim).length === KILLS_OF_ONE) victim = 'everything';
      sinceStart = victim === 'everything' ? [] : [...sinceStart, victim];
      await kill(victim);
      killed += 1;
    }
    await loading;
    expect(accepted.size).toBe(READINGS);

    await nothingIsLost({
      stack,
      customer,
      receiver,
      accepted: new Set(accepted.values()),
      credits: CREDITS,
    });
  }, 7_200_000);
});
