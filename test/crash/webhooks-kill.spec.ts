import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { programPath } from '#platform/program-path.js';
import { SERVICE_FLAGS } from '../../apps/embedded/src/node-service.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { Integrator, person, until } from '../support/integrator.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Answer,
  type Receiver,
  type StartedStack,
} from '../support/index.js';

const ROUNDS = rounds(4, 200);
const CALLERS = 2;
/** Readings requested in a round: as many as the last worker, which is not killed, can catch up with. */
const READINGS_A_ROUND = 4;
const CATCH_UP_MS = 600_000;
/** The receiver's delay before it answers. It refuses one delivery in ten. */
const THINKS_MS = [50, 300] as const;
const REFUSES = 0.1;
/** How long a kill waits for a delivery to be in flight. A new worker waits for the leases of the killed one. */
const ARRIVES_WITHIN_MS = 300_000;
const SEED = seedOr(20261121);
const IMPATIENT = {
  ...RECEIVER_SETTINGS,
  READING_LEASE_MS: '3000',
  READING_DELAYED_AFTER_MS: '500',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '2000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
};

/** The seed makes a failure repeatable. */
const random = new Random(SEED);

interface FeedPage {
  readonly data: readonly { id: string; readingId: string; sequence: number }[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack({ env: IMPATIENT });
  customer = await Integrator.open(stack, 1_000_000);
  receiver = await startReceiver();
  receiver.answer = answer;
  const { body } = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
  receiver.secret = body.signingSecret;
  // The stack gives up a worker that dies too often. Its own worker is stopped, and the test starts others.
  process.kill(stack.pids().worker, 'SIGSTOP');
});

afterAll(async () => {
  if (stack) process.kill(stack.pids().worker, 'SIGCONT');
  await stack?.stop();
  await receiver?.stop();
});

const taken = new Set<string>();
const outOfOrder: string[] = [];

/** Records the accepted deliveries, and those that arrived before their predecessor was accepted. */
const answer: Answer = async ({ event: { id, readingId, sequence } }) => {
  if (sequence > 1 && !taken.has(`${readingId} ${sequence - 1}`)) outOfOrder.push(id);
  await delay(random.between(...THINKS_MS));
  if (random.chance(REFUSES)) return { status: 503 };
  taken.add(`${readingId} ${sequence}`);
  return { status: 204 };
};

/**
 * Half of the kills come at any time, half while a receiver is busy.
 * @param order requests one more reading, whose deliveries are still to come
 */
const untilKilled = async (round: number, order: () => void): Promise<void> => {
  await delay(300 + random.next() * 1_500);
  if (round % 2 === 0) return;
  const now = new Date();
  order();
  await receiver.waitFor(({ receivedAt }) => receivedAt > now, ARRIVES_WITHIN_MS);
};

/** Starts a worker. One that ends while starting is started again, as the supervisor does. */
const startWorker = async (startsLeft = 5): Promise<ChildProcess> => {
  const runtime = JSON.parse(readFileSync(join(stack.dataDir, 'runtime.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const connections = Object.fromEntries(
    Object.entries(runtime).filter(([, value]) => typeof value === 'string'),
  );
  const worker = spawn(process.execPath, [...SERVICE_FLAGS, programPath('worker')], {
    env: {
      ...process.env,
      ...(connections as NodeJS.ProcessEnv),
      ...IMPATIENT,
      LOG_LEVEL: 'silent',
      EXIT_WITH_PARENT: '1',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new AbortController();
  const isWorking = await Promise.race([
    once(worker.stdout, 'data', ended).then(() => true),
    once(worker, 'exit', ended).then(() => false),
  ]).finally(() => ended.abort());
  if (isWorking) return worker;
  if (startsLeft === 0) throw new Error('The worker ends while it starts, again and again');
  return startWorker(startsLeft - 1);
};

const feed = async (): Promise<readonly { readonly id: string; readonly text: string }[]> => {
  const events: { id: string; text: string }[] = [];
  let cursor = '';
  for (let more = true; more;) {
    const { body } = await customer.call<FeedPage>('GET', `/api/v1/events?limit=100${cursor}`);
    events.push(...body.data.map((event) => ({ id: event.id, text: JSON.stringify(event) })));
    cursor = `&cursor=${body.nextCursor}`;
    more = body.hasMore;
  }
  return events;
};

describe(`kill -9 of the worker, ${ROUNDS} times under load (${again('webhooks-kill', ROUNDS, SEED)})`, () => {
  it('delivers every event at least once, those of a reading in order, with the ids and bytes of the feed', async () => {
    const accepted = new Set<string>();
    const stop = new AbortController();
    let allowed = READINGS_A_ROUND;
    const loading = Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (!stop.signal.aborted) {
          await delay(100);
          if (accepted.size >= allowed) continue;
          const answer = await customer.create(person());
          if (answer.status === 202) accepted.add(answer.body.readingId);
        }
      }),
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      const worker = await startWorker();
      if (round > 0) allowed += READINGS_A_ROUND;
      await untilKilled(round, () => (allowed += 1));
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
    stop.abort();
    await loading;
    expect(accepted.size).toBeGreaterThan(ROUNDS);
    const last = await startWorker();
    for (const readingId of accepted) await customer.untilEnded(readingId, CATCH_UP_MS);

    const events = await feed();
    const arrived = () => new Set(receiver.received.map(({ event }) => event.id));
    await until(
      () => events.every(({ id }) => arrived().has(id)),
      () => `${events.filter(({ id }) => !arrived().has(id)).length} of ${events.length} events are missing`,
      CATCH_UP_MS,
    );
    const attempts = () =>
      receiver.received.map(
        ({ headers }) =>
          `${String(headers['x-service-delivery-id'])} ${String(headers['x-service-attempt'])}`,
      );
    await until(
      () => attempts().length > new Set(attempts()).size,
      () => 'an attempt that a kill interrupted is made again, and keeps its number',
      CATCH_UP_MS,
    );
    last.kill('SIGTERM');
    await once(last, 'exit');
    const bytes = new Map(events.map(({ id, text }) => [id, text]));
    const sequences = new Map<string, number[]>();
    const seen = new Set<string>();
    for (const { event, rawBody, verified } of receiver.received) {
      expect(verified).toBe(true);
      expect(rawBody.toString('utf8')).toBe(bytes.get(event.id));
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      sequences.set(event.readingId, [...(sequences.get(event.readingId) ?? []), event.sequence]);
    }
    expect(new Set(sequences.keys())).toEqual(accepted);
    for (const order of sequences.values()) expect(order).toEqual(order.map((_, index) => index + 1));
    expect(outOfOrder).toEqual([]);
  }, 3_600_000);
});
