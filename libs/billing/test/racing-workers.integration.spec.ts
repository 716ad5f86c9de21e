import { beforeEach, expect, it } from '@jest/globals';
import { DroppingEventStore } from '#event-sourcing/testing/dropping-event-store.js';
import { HoldFence, IdleBooks } from '#billing/application/upkeep.js';
import { PurchasePack, SubscribeToPlan } from '#billing/contracts/index.js';
import { testPool } from '../../../test/support/test-pool.js';
import { BY, FENCE_MS, START, WS, startWorker } from './start-worker.js';

/*
 * Two workers do the same work at the same moment, as after a lease that changed hands. Their events have the same ids,
 * and the store drops the second append while it writes the first one.
 */

const never = new AbortController().signal;

const pool = testPool();
let store: DroppingEventStore;
let workers: readonly Awaited<ReturnType<typeof startWorker>>[];
beforeEach(async () => {
  await pool.query('truncate billing.balance, billing.hold, billing.reconciliation');
  store = new DroppingEventStore();
  const first = await startWorker(pool, store);
  await first.commands.execute(new PurchasePack(WS, 'sprint', 'o1', BY));
  await first.commands.execute(new SubscribeToPlan(WS, 'studio', null, BY));
  await first.reserve('r1');
  await first.catchUp();
  workers = [first, await startWorker(pool, store)];
});

type Worker = (typeof workers)[number];
const bothAtOnce = (work: (worker: Worker) => Promise<unknown>) => Promise.all(workers.map(work));
const at = (time: number): void => workers.forEach(({ clock }) => (clock.time = time));
const typesSince = (start: number) => store.log.slice(start).map(({ type }) => type);

/** Lets all consumers of both workers handle the whole log. */
const settle = (): Promise<unknown> =>
  bothAtOnce(async ({ work }) => {
    for (const consumer of work.consumers)
      await consumer.dispatch?.(
        store.log.filter(({ stream }) => consumer.categories.some((name) => stream.startsWith(`${name}-`))),
      );
  });

it('A reading is settled once', async () => {
  const data = { workspaceId: WS, livemode: true, reservationId: 'r1', attempt: 1, sealedResult: 'x' };
  await workers[0]!.publish('reading-1', 'ReadingCompleted', data);
  const before = store.log.length;
  await settle();
  expect(typesSince(before)).toEqual(['CreditsCaptured']);
  expect(store.dropped).toBeGreaterThan(0);
});

it('An abandoned hold is released once', async () => {
  at(START + FENCE_MS + 1);
  for (const worker of workers) worker.readings.answer = () => 'abandoned';
  await bothAtOnce(({ app }) => app.get(HoldFence).sweep(never));
  await workers[0]!.publish('reading-1', 'ReadingAbandoned', {
    workspaceId: WS,
    livemode: true,
    reservationId: 'r1',
    reason: 'late',
  });
  const before = store.log.length;
  await settle();
  expect(typesSince(before)).toEqual(['CreditsReleased']);
  expect(store.dropped).toBeGreaterThan(0);
});

it('A month closes once, and grants expire once', async () => {
  const nudge = async () => {
    const before = store.log.length;
    await bothAtOnce(({ app }) => app.get(IdleBooks).nudge(never));
    await workers[0]!.catchUp();
    return typesSince(before);
  };
  // Each worker finds the book by a query of its own, which may take longer than an append.
  store.awaitsDrop = true;
  at(Date.parse('2026-05-01T00:00:00.000Z'));
  expect(await nudge()).toEqual(['PeriodClosed']);
  at(Date.parse('2026-05-10T00:00:00.000Z'));
  expect(await nudge()).toEqual(['GrantExpired', 'PlanGranted']);
  expect(store.dropped).toBeGreaterThan(0);
});
