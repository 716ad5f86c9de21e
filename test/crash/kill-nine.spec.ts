import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../support/random.js';
import { Integrator, person, until } from '../support/integrator.js';
import { again, rounds, seedOr } from '../support/rounds.js';
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
import { Orders } from './support/orders.js';

const VICTIMS = ['api', 'worker', 'event-store', 'postgres', 'everything'] as const;
type Victim = (typeof VICTIMS)[number];
/** In CI each of them once, first two at a time. */
const FIRST = [['api', 'postgres'], ['worker', 'event-store'], ['everything']] as const;
const KILLS = rounds(FIRST.length, 300);
const SEED = seedOr(20261120);
const CREDITS = 1_000_000;
/** Readings requested beside each kill: one by one, and as a batch that is long enough to come often between two of them. */
const SINGLE = 4;
const BATCH = 4;
/** The stack gives up a process that ends more often within a minute. After a restart of the stack it counts again. */
const KILLS_OF_ONE = 4;
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
let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;
/** Of a second endpoint, which takes what the service says of batches and replays, and hardly any event to replay. */
let notices: Receiver;
let noticesEndpoint: string;
const orders = new Orders(() => customer);

beforeAll(async () => {
  stack = await startStack({ env: IMPATIENT, dataDir });
  customer = await Integrator.open(stack, CREDITS);
  [receiver, notices] = [await startReceiver(), await startReceiver()];
  receiver.answer = answer;
  await customer.endpoint(receiver);
  const told = { events: ['reading.delayed'], notices: ['batch.ended', 'replay.finished'] };
  noticesEndpoint = await customer.endpoint(notices, told);
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

interface Batch {
  readonly batchId: string;
  readonly items: readonly { readonly readingId: string }[];
}

/** @returns the id of the batch, all of whose readings are accepted */
const requestBatch = async (key: string): Promise<string> => {
  const readings = Array.from({ length: BATCH }, (_, n) => ({ ...person(), externalId: `${key}-${n}` }));
  const { body } = (await orders.ask<Batch>('readings/bulk', key, { mode: 'all', readings }))!;
  for (const [n, { readingId }] of body.items.entries()) orders.accepted.set(`${key}-${n}`, readingId);
  return body.batchId;
};

/** @returns the id of the replay; `undefined` while another one runs */
const requestReplay = async (key: string): Promise<string | undefined> => {
  const since = { since: '2026-01-01T00:00:00Z' };
  const path = `webhooks/${noticesEndpoint}/replay`;
  return (await orders.ask<{ replayId?: string }>(path, key, since, [202, 409]))?.body.replayId;
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
  );
  expect([...noticesOf(type, subject).values()].filter((ids) => ids.size !== 1)).toEqual([]);
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
  await until(() => ![undefined, pid].includes(stack.pids()[victim]), `${victim} has restarted`);
};

describe(`kill -9 of any process, ${KILLS} times (${again('kill-nine', KILLS, SEED)})`, () => {
  it('loses nothing: every reading and batch ends, all credits are accounted for, all events are delivered in order, as the feed has them', async () => {
    let sinceStart: Victim[] = [];
    const [batches, replays] = [new Set<string>(), new Set<string>()];
    for (let killed = 0; killed < KILLS; killed += 1) {
      let victims: readonly Victim[] = FIRST[killed] ?? [random.pick(VICTIMS)];
      if (victims.some((victim) => sinceStart.filter((one) => one === victim).length === KILLS_OF_ONE))
        victims = ['everything'];
      sinceStart = victims.includes('everything') ? [] : [...sinceStart, ...victims];
      const single = orders.order(...Array.from({ length: SINGLE }, (_, n) => `crash-${killed}-${n}`));
      await delay(random.next() * 1_000);
      const asked = Promise.all([requestBatch(`bulk-${killed}`), requestReplay(`replay-${killed}`)]);
      await delay(random.next() * 150);
      await Promise.all(victims.map(kill));
      const [batchId, replayId] = await asked;
      await single;
      batches.add(batchId);
      if (replayId !== undefined) replays.add(replayId);
    }
    expect([orders.accepted.size, orders.complaints]).toEqual([KILLS * (SINGLE + BATCH), []]);

    await nothingIsLost({ stack, customer, receiver, accepted: orders.readings, credits: CREDITS });
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
