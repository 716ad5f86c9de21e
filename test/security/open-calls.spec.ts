import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { addedToAppend } from '#event-sourcing/testing/tally.js';
import { openCalls } from '../contract/event-store/support/open-calls.js';
import { Integrator, person, until, untilServed } from '../support/integrator.js';
import { DEFAULT_LIMITS } from '../support/default-limits.js';
import { fixture, startStack } from '../support/index.js';
import { rounds } from '../support/rounds.js';

/**
 * An abandoned read must not stay open at the event store, which takes 100 calls on a connection: call 101 would wait
 * forever.
 */
const CALLS = rounds(150, 10_000);
/** The rest of a smaller log would fit into buffers. Its calls would end by themselves, and hide a leak. */
const EVENTS = 4_000;
const EVENT_BYTES = 1_200;

// Before the stack stops.
afterAll(() => void process.kill(stack.pids().worker, 'SIGCONT'));
const stack = fixture(() => startStack({ env: DEFAULT_LIMITS }));
const customer = fixture(() => Integrator.open(stack, 1_000_000));
let readingId: string;
let atRest: number;

beforeAll(async () => {
  await fill();
  ({ readingId } = (await untilServed(() => customer.create())).body);
  await customer.untilEnded(readingId);
  // From here on consumers lag, as after a restore or a long stop, and readings stay unfinished.
  process.kill(stack.pids().worker, 'SIGSTOP');
  await stack.query('update event_sourcing.consumer set position = 0');
  await delay(500);
  atRest = await openCalls(stack.eventStoreUrl);
});
const fill = async (): Promise<void> => {
  const bounds = { appendTimeoutMs: 20_000, readTimeoutMs: 20_000 };
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    ...bounds,
  });
  for (let written = 0; written < EVENTS; written += 500) {
    const events = Array.from({ length: 500 }, () => addedToAppend(randomUUID(), 'x'.repeat(EVENT_BYTES)));
    await store.append(`filler-${randomUUID()}`, 'no_stream', events);
  }
  await store.close();
};

const expectRest = async (): Promise<void> => {
  let open = Infinity;
  await until(
    async () => (open = await openCalls(stack.eventStoreUrl)) <= atRest,
    () => `${open} calls are open, ${atRest} were at rest`,
    30_000,
  );
};

/** Runs `total` calls, at most `side` concurrently. */
const inParallel = async (total: number, one: (n: number) => Promise<unknown>, side = 16): Promise<void> => {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < total) await one((next += 1));
  };
  await Promise.all(Array.from({ length: side }, lane));
};

const checksOf = async (): Promise<{ eventStore: boolean; postgres: boolean }> => {
  const answer = await fetch(`${stack.baseUrl}/readyz`);
  return ((await answer.json()) as { checks: { eventStore: boolean; postgres: boolean } }).checks;
};

/** A busy machine misses the time limit of one check. A leak would fail every one. */
const untilStoresAnswer = (): Promise<void> =>
  until(
    async () => {
      const { eventStore, postgres } = await checksOf();
      return eventStore && postgres;
    },
    () => 'both stores answer a check',
  );

/** Sends a request and aborts it after `afterMs`. */
const leave = (path: string, afterMs: number, headers: Record<string, string> = {}): Promise<unknown> =>
  fetch(stack.baseUrl + path, {
    headers: { 'x-api-key': customer.apiKey, ...headers },
    signal: AbortSignal.timeout(afterMs),
  })
    .then((answer) => answer.arrayBuffer())
    .catch(() => undefined);

describe('no call stays open at the event store', () => {
  it('after many probes of readiness, while consumers lag far behind', async () => {
    // A few probes get a check of their own. The others share one, as in a flood.
    for (let look = 0; look < Math.min(4, CALLS); look += 1) {
      await untilStoresAnswer();
      await delay(1_050);
    }
    await inParallel(CALLS, checksOf);
    await untilStoresAnswer();
    await expectRest();
  });

  it('after many partial reads of a history', async () => {
    let answered = 0;
    await inParallel(CALLS, async () => {
      const { status } = await customer.call('GET', `/api/v1/readings/${readingId}/events?limit=1`);
      if (status === 200) answered += 1;
    });
    // A busy machine may refuse one or two. A leak would refuse nearly all.
    expect(answered).toBeGreaterThan(CALLS * 0.9);
    await expectRest();
  });

  it('after many long polls and other requests that their callers abort', async () => {
    const waiting = (await customer.create(person())).body.readingId;
    const paths = [
      `/api/v1/readings/${waiting}`,
      `/api/v1/readings/${readingId}/events?limit=1`,
      `/api/v1/readings/${readingId}/result`,
      '/readyz',
    ];
    await inParallel(CALLS, (n) => leave(paths[n % paths.length]!, n % 23, { prefer: 'wait=60' }));
    await expectRest();
  });
});
