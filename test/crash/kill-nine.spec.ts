import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../support/random.js';
import { Integrator, person, until } from '../support/integrator.js';
import { again, isSoak, rounds, seedOr } from '../support/rounds.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Answer,
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
/** Readings of the batch that is requested beside each kill: enough that it often comes between two of them. */
const BATCH = 4;
const VICTIMS = ['api', 'worker', 'event-store', 'postgres', 'everything'] as const;
type Victim = (typeof VICTIMS)[number];
/** The receiver's delay before it answers. It refuses one delivery in ten. */
const THINKS_MS = [50, 300] as const;
const REFUSES = 0.1;
/** Short leases, so that another process soon takes over from a killed one. */
const IMPATIENT = {
  ...RECEIVER_SETTINGS,
  READING_LEASE_MS: '3000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '2000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
  RESERVATION_FENCE_MS: '4000',
};

/** The seed makes a failure repeatable. */
const random = new Random(SEED);

const dataDir = temporaryDataDir();
/** Accepted readings by Idempotency-Key. */
const accepted = new Map<string, string>();
let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;
/** Of a second endpoint, which takes what the service says of batches and replays, and hardly any event to replay. */
let notices: Receiver;
let noticesEndpoint: string;

beforeAll(async () => {
  stack = await startStack({ env: IMPATIENT, dataDir });
  customer = await Integrator.open(stack, CREDITS);
  receiver = await startReceiver();
  receiver.answer = answer;
  notices = await startReceiver();
  await addEndpoint(receiver, {});
  const told = { events: ['reading.delayed'], notices: ['batch.ended', 'replay.finished'] };
  noticesEndpoint = await addEndpoint(notices, told);
});

afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
  await notices?.stop();
  removeDataFolder(dataDir);
});

const taken = new Set<string>();
const outOfOrder: string[] = [];
/** Takes most deliveries, and notes those that come before their predecessor was taken. */
const answer: Answer = async ({ event: { id, readingId, sequence } }) => {
  if (sequence > 1 && !taken.has(`${readingId} ${sequence - 1}`)) outOfOrder.push(id);
  await delay(random.between(...THINKS_MS));
  if (random.chance(REFUSES)) return { status: 503 };
  taken.add(`${readingId} ${sequence}`);
  return { status: 204 };
};

/** The body of each event in the feed, by its id. */
const feed = async (): Promise<ReadonlyMap<string, string>> => {
  const bodies = new Map<string, string>();
  let next: string | undefined = '';
  while (next !== undefined) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`;
    type Page = { data: readonly { id: string }[]; nextCursor: string; hasMore: boolean };
    const { body } = await customer.call<Page>('GET', `/api/v1/events?limit=100${cursor}`);
    for (const event of body.data) bodies.set(event.id, JSON.stringify(event));
    next = body.hasMore ? body.nextCursor : undefined;
  }
  return bodies;
};

const addEndpoint = async (to: Receiver, chosen: object): Promise<string> => {
  const body = { url: to.url, ...chosen };
  const created = await customer.call<{ endpointId: string; signingSecret: string }>(
    'POST',
    '/api/v1/webhooks',
    { body },
  );
  to.secret = created.body.signingSecret;
  return created.body.endpointId;
};

/** Asks until it is answered. After a lost answer it asks with the same key. @returns a 202 or another of `expected` */
const ask = async <T>(path: string, key: string, body: object, expected = [202]): Promise<[number, T]> => {
  for (;;) {
    const options = { body, headers: { 'idempotency-key': key } };
    const answer = await customer.call<T>('POST', `/api/v1/${path}`, options).catch(() => null);
    if (answer && expected.includes(answer.status)) return [answer.status, answer.body];
    if (answer) expect(answer.status).toBe(503);
    await delay(50);
  }
};

const request = async (key: string): Promise<void> => {
  const [, { readingId }] = await ask<{ readingId: string }>('readings', key, person());
  accepted.set(key, readingId);
};

interface Batch {
  readonly batchId: string;
  readonly items: readonly { readonly readingId: string }[];
}

/** @returns the id of the batch, all of whose readings are accepted */
const requestBatch = async (key: string): Promise<string> => {
  const readings = Array.from({ length: BATCH }, (_, n) => ({ ...person(), externalId: `${key}-${n}` }));
  const [, batch] = await ask<Batch>('readings/bulk', key, { mode: 'all', readings });
  for (const [n, { readingId }] of batch.items.entries()) accepted.set(`${key}-${n}`, readingId);
  return batch.batchId;
};

/** @returns the id of the replay; `undefined` while another one runs */
const requestReplay = async (key: string): Promise<string | undefined> => {
  const since = { since: '2026-01-01T00:00:00Z' };
  const path = `webhooks/${noticesEndpoint}/replay`;
  const [, body] = await ask<{ replayId?: string }>(path, key, since, [202, 409]);
  return body.replayId;
};

/** Ids of the notices of each batch or replay that arrived. A notice may arrive twice, under one id. */
const noticesOf = (
  type: string,
  subject: 'batchId' | 'replayId',
): ReadonlyMap<string, ReadonlySet<string>> => {
  const ids = new Map<string, Set<string>>();
  for (const { rawBody, headers, verified } of notices.received) {
    expect(verified).toBe(true);
    if (headers['x-service-notice'] !== type) continue;
    const notice = JSON.parse(rawBody.toString('utf8')) as Record<'id' | 'batchId' | 'replayId', string>;
    ids.set(notice[subject], (ids.get(notice[subject]) ?? new Set()).add(notice.id));
  }
  return ids;
};

const eachIsToldOnce = async (type: string, subject: 'batchId' | 'replayId', wanted: ReadonlySet<string>) => {
  await until(
    () => [...wanted].every((id) => noticesOf(type, subject).has(id)),
    () => `${noticesOf(type, subject).size} of ${wanted.size} are told of as ${type}`,
    300_000,
  );
  expect([...noticesOf(type, subject).values()].filter((ids) => ids.size !== 1)).toEqual([]);
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
  it('loses nothing: every reading and batch ends, all credits are accounted for, all events are delivered in order, as the feed has them', async () => {
    let killed = 0;
    let sinceStart: Victim[] = [];
    const [batches, replays] = [new Set<string>(), new Set<string>()];
    const loading = load(() => Math.ceil((READINGS * (killed + 1)) / KILLS));
    while (killed < KILLS) {
      await delay(100 + random.next() * 1_500);
      // Each of them once, also in a short run.
      let victim: Victim = VICTIMS[killed] ?? random.pick(VICTIMS);
      if (sinceStart.filter((one) => one === victim).length === KILLS_OF_ONE) victim = 'everything';
      sinceStart = victim === 'everything' ? [] : [...sinceStart, victim];
      const asked = Promise.all([requestBatch(`bulk-${killed}`), requestReplay(`replay-${killed}`)]);
      await delay(random.next() * 150);
      await kill(victim);
      const [batchId, replayId] = await asked;
      batches.add(batchId);
      if (replayId !== undefined) replays.add(replayId);
      killed += 1;
    }
    await loading;
    expect(accepted.size).toBe(READINGS + KILLS * BATCH);

    await nothingIsLost({
      stack,
      customer,
      receiver,
      accepted: new Set(accepted.values()),
      credits: CREDITS,
    });
    expect(outOfOrder).toEqual([]);
    const bodies = await feed();
    for (const { event, rawBody } of receiver.received)
      expect(rawBody.toString('utf8')).toBe(bodies.get(event.id));
    expect([batches.size, replays.size > 0]).toEqual([KILLS, true]);
    for (const batchId of batches) {
      const { body } = await customer.call('GET', `/api/v1/batches/${batchId}`);
      expect(body).toMatchObject({ accepted: BATCH, states: { completed: BATCH } });
    }
    await eachIsToldOnce('batch.ended', 'batchId', batches);
    await eachIsToldOnce('replay.finished', 'replayId', replays);
    expect(await stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ ok: true });
  }, 7_200_000);
});
