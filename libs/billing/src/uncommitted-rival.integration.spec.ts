import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { intercept, type EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { WS } from '../test/book.js';
import { createCreditsExecutor, type CreditsExecutor } from './executors.js';

const NOW = Date.parse('2026-04-10T12:00:00Z');
const BY = { actor: 'operator:ada', correlationId: 'c', causationId: 'c' };
const ENTRIES = 1_000;
/** As long as two of three nodes stop. */
const PAUSE_MS = 800;

/** The leader of a cluster, whose followers stop at times. */
let leader: EmbeddedEventStore;
let followers = Promise.resolve();
let replicate = (): void => undefined;
let dataDir: string;
let stores: readonly EventStore[];
/** Two processes. What ours reads and appends is counted. */
let ours: CreditsExecutor;
let rivals: CreditsExecutor;
let [read, refused] = [0, 0];

const buy = (book: CreditsExecutor, orderRef: string) =>
  book.execute(
    WS,
    { type: 'PurchasePack', pack: 'burst', orderRef, now: NOW, actor: BY.actor },
    { intent: orderRef, by: BY, workspaceId: WS, at: NOW },
  );

/** A rival appends, and nobody sees it until the followers go on. @returns what lets them, and the rival's outcome */
const uncommitted = async (orderRef: string) => {
  let resume = (): void => undefined;
  followers = new Promise((resolve) => (resume = resolve));
  const reached = new Promise<void>((resolve) => (replicate = resolve));
  const outcome = buy(rivals, orderRef);
  await reached;
  [read, refused] = [0, 0];
  return { resume, outcome };
};

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'uncommitted-rival-'));
  leader = await startEmbeddedEventStore({
    dataDir,
    quorum: () => {
      replicate();
      return followers;
    },
    limits: { commitTimeoutMs: 60_000 },
  });
  const { connectionString } = leader;
  stores = await Promise.all(
    [1, 2].map(() => openEventStore({ connectionString, appendTimeoutMs: 60_000, readTimeoutMs: 60_000 })),
  );
  const [own, other] = stores as [EventStore, EventStore];
  const counted = intercept(own, {
    async *read(stream, options) {
      for await (const event of own.read(stream, options)) {
        read += 1;
        yield event;
      }
    },
    append: (...asked) =>
      own.append(...asked).catch((error: unknown) => {
        refused += 1;
        throw error;
      }),
  });
  ours = createCreditsExecutor(counted, 10_000);
  rivals = createCreditsExecutor(other, 10_000);
  const opened = { intent: 'open', by: BY, workspaceId: WS, at: NOW };
  await ours.execute(WS, { type: 'OpenBook', workspaceId: WS, now: NOW }, opened);
  await Promise.all(Array.from({ length: ENTRIES }, (_, index) => buy(ours, `pack${index}`)));
});

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await leader.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('an order, while the rival’s entry before it is not committed', () => {
  it('waits for it, and is booked after it without another read of the whole book', async () => {
    const rival = await uncommitted('rival1');
    const order = buy(ours, 'order1');
    await delay(PAUSE_MS);
    rival.resume();
    expect((await order).kind).toBe('accepted');
    expect((await rival.outcome).kind).toBe('accepted');
    expect(read).toBe(1);
    expect(refused).toBeLessThan(5);
  });

  it('gets no answer for good when nobody commits that, and costs the next order no read of the whole book', async () => {
    const rival = await uncommitted('rival2');
    await expect(buy(ours, 'order2')).rejects.toThrow(StoreUnavailable);
    rival.resume();
    await rival.outcome;
    expect((await buy(ours, 'order2')).kind).toBe('accepted');
    expect(read).toBe(1);
    expect(refused).toBeLessThan(5);
  });
});
