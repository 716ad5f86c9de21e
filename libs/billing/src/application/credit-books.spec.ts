import { beforeEach, describe, expect, it } from '@jest/globals';
import { instant, ClockUntrusted } from '#event-sourcing/core/clock.js';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { EventStore, ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { ReserveCredits } from '#readings/contracts/index.js';
import { adjustment } from '../../test/adjustment.js';
import { WS } from '../../test/book.js';
import {
  CancelSubscription,
  GetBalance,
  GetCredits,
  GetLedger,
  OpenBook,
  PurchasePack,
  SubscribeToPlan,
} from '../contracts/index.js';
import { createCorrectionExecutors, createCreditsExecutor, createTestBookExecutor } from '../executors.js';
import { CreditBooks, OpenBookHandler, TestBooks } from './credit-books.js';
import { GetBalanceHandler, GetCreditsHandler } from './get-credits.js';
import { PurchasePackHandler, CancelSubscriptionHandler, SubscribeToPlanHandler } from './sales.js';
import { ReserveCreditsHandler, Settlements } from './reservations.js';
import { GetLedgerHandler } from './statements.js';

/** Who gives every command of the process. */
const BY = { actor: 'apiKey:k1', correlationId: 'correlation', causationId: 'cause' };

/** The reservation of one reading. */
const one = (reservationId: string) => ({
  reservations: [{ reservationId, readingId: `reading-${reservationId}` }],
  all: true,
});

/** Billing's commands and queries as one process runs them: with its own books, folded in its own memory. */
const billingProcess = (store: EventStore, clock: { now(): number }) => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
  const testBooks = new TestBooks(createTestBookExecutor(store, 10_000), clock);
  const handlers = {
    open: new OpenBookHandler(books),
    reserve: new ReserveCreditsHandler(books, testBooks),
    settlements: new Settlements(books, testBooks, { warn: () => undefined }),
    subscribe: new SubscribeToPlanHandler(books),
    cancel: new CancelSubscriptionHandler(books),
    purchase: new PurchasePackHandler(books, createCorrectionExecutors(store), clock),
    balance: new GetBalanceHandler(books, testBooks, store, { CLOCK_REFUSE_MS: 10_000 }),
    credits: new GetCreditsHandler(books, testBooks),
    ledger: new GetLedgerHandler(store),
  };
  return {
    open: () => handlers.open.execute(new OpenBook(WS, BY)),
    reserve: (id: string, product = 'theme', livemode = true) =>
      handlers.reserve.execute(new ReserveCredits(WS, one(id), product, livemode, BY)),
    settle: (id: string, settlement: 'capture' | 'release', livemode = true) =>
      handlers.settlements.settle({
        ...{ workspaceId: WS, reservationId: id, livemode, settlement },
        ...{ causeEventId: `end-of-${id}`, by: BY },
      }),
    subscribe: (plan: SubscribeToPlan['plan'], approval: string | null = null) =>
      handlers.subscribe.execute(new SubscribeToPlan(WS, plan, approval, BY)),
    cancel: () => handlers.cancel.execute(new CancelSubscription(WS, BY)),
    purchase: (pack: PurchasePack['pack'], order: string) =>
      handlers.purchase.execute(new PurchasePack(WS, pack, order, BY)),
    adjust: (adjustmentId: string, amount: number) =>
      books.execute(
        WS,
        (now) => ({ ...adjustment({ adjustmentId, amount }), now }),
        `adjust:${adjustmentId}`,
        BY,
      ),
    due: () => books.recordDue(WS, BY),
    balance: () => handlers.balance.execute(new GetBalance(WS)),
    credits: (livemode = true) => handlers.credits.execute(new GetCredits(WS, livemode)),
    ledger: () => handlers.ledger.execute(new GetLedger(WS)),
  };
};

class CountingStore extends InMemoryEventStore {
  appends = 0;
  override append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    this.appends += 1;
    return super.append(stream, expected, events);
  }
}

let now: number;
let store: CountingStore;
/** One process of several, with a clock that may be off. */
const openProcess = (skewMs = 0) => billingProcess(store, { now: () => now + skewMs });
const types = () => store.log.map(({ type }) => type);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

beforeEach(() => {
  now = Date.parse('2026-04-10T12:00:00.000Z');
  store = new CountingStore();
});

describe('reserving', () => {
  it('a hundred readings at once on a hundred credits holds five and refuses the others, in few appends', async () => {
    const process = openProcess();
    await process.open();
    await process.adjust('a1', 100);
    const before = store.appends;
    const results = await Promise.all(numbers(100).map((id) => process.reserve(id)));
    expect(results.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(5);
    expect(results.filter(({ outcome }) => outcome === 'insufficient')).toHaveLength(95);
    expect(results.at(-1)).toEqual({ outcome: 'insufficient', required: 20, available: 0 });
    expect(store.appends - before).toBeLessThanOrEqual(3);
    expect(await process.balance()).toMatchObject({ available: 0, held: 100 });
  });

  it('holds once for one reservation, however often and in whichever process it is requested', async () => {
    const [here, there] = [openProcess(), openProcess()];
    await here.open();
    await here.purchase('flex', 'o1');
    const results = await Promise.all([here.reserve('r1'), there.reserve('r1'), here.reserve('r1')]);
    const held = { outcome: 'reserved', amounts: new Map([['r1', 20]]), settled: new Set() };
    expect(results).toEqual(Array(3).fill(held));
    expect(types().filter((type) => type === 'CreditsReserved')).toHaveLength(1);
  });

  it('is misconfigured without a book, and for a product without a price', async () => {
    const process = openProcess();
    expect(await process.reserve('r1')).toMatchObject({ outcome: 'misconfigured' });
    await process.open();
    expect(await process.reserve('r1', 'tarot')).toMatchObject({ outcome: 'misconfigured' });
    expect(types()).toEqual(['BookOpened']);
  });

  it('is misconfigured when the ledger cannot be read', async () => {
    const metadata = { ...BY, workspaceId: WS, occurredAt: instant(now), schemaVersion: 1 };
    await store.append(`credits-${WS}`, 'no_stream', [{ id: 'x', type: 'BookOpened', data: {}, metadata }]);
    expect(await openProcess().reserve('r1')).toMatchObject({ outcome: 'misconfigured' });
  });

  it('reports an unavailable store', async () => {
    store.append = () => Promise.reject(new StoreUnavailable('away', false));
    await expect(openProcess().open()).rejects.toThrow(StoreUnavailable);
  });
});

describe('a book', () => {
  it('that is not open cannot be changed', async () => {
    const process = openProcess();
    const refused = { outcome: 'book_not_open' };
    expect(await process.subscribe('studio')).toEqual(refused);
    expect(await process.cancel()).toEqual(refused);
    expect(await process.purchase('flex', 'o1')).toEqual(refused);
    expect(await process.adjust('a1', 5)).toMatchObject({ kind: 'rejected', code: 'BookNotOpen' });
    await expect(process.settle('r1', 'capture')).rejects.toThrow('no credit book yet');
    expect(await process.balance()).toBeNull();
    expect(await process.credits()).toBeNull();
    expect(await process.ledger()).toEqual([]);
  });

  it('shows credits as expired at their instant, before any event says so', async () => {
    const process = openProcess();
    await process.open();
    await process.subscribe('studio');
    await process.cancel();
    now = Date.parse('2026-05-10T00:00:00.000Z');
    expect(await process.balance()).toMatchObject({ available: 0, expired: 400 });
    expect(types()).not.toContain('GrantExpired');
  });
});

describe('time', () => {
  it('of a process whose clock is behind does not date anything in a closed month', async () => {
    const [ahead, behind] = [openProcess(), openProcess(-5_000)];
    await ahead.open();
    now = Date.parse('2026-05-01T00:00:01.000Z');
    await ahead.due();
    await behind.purchase('flex', 'o1');
    expect(store.log.at(-1)).toMatchObject({
      type: 'PackPurchased',
      metadata: { occurredAt: '2026-05-01T00:00:01.000Z' },
    });
  });
});

describe('the record of a book', () => {
  it('is a statement: every event, its movements, and the balance after it', async () => {
    const process = openProcess();
    await process.open();
    await process.purchase('flex', 'o1');
    await process.reserve('r1');
    await process.settle('r1', 'capture');
    expect(await process.ledger()).toMatchObject([
      { type: 'BookOpened', revision: 0n, postings: [], availableAfter: 0, heldAfter: 0, readingId: null },
      { type: 'PackPurchased', revision: 1n, availableAfter: 50, heldAfter: 0 },
      { type: 'CreditsReserved', revision: 2n, availableAfter: 30, heldAfter: 20, reservationId: 'r1' },
      {
        type: 'CreditsCaptured',
        revision: 3n,
        occurredAt: instant(now),
        postings: [
          { account: 'held', amount: -20 },
          { account: 'consumed', amount: 20 },
        ],
        availableAfter: 30,
        heldAfter: 0,
        readingId: 'reading-r1',
        reservationId: 'r1',
      },
    ]);
  });
});

it('Test credits are not moved while the clocks differ, and are shown as they were recorded', async () => {
  let isTrusted = true;
  const process = billingProcess(store, {
    now: () => {
      if (!isTrusted) throw new ClockUntrusted('the clocks differ');
      return now;
    },
  });
  await process.reserve('r1', 'theme', false);
  const before = types();
  now += 86_400_000;
  isTrusted = false;
  await expect(process.reserve('r2', 'theme', false)).rejects.toThrow(ClockUntrusted);
  await expect(process.settle('r1', 'capture', false)).rejects.toThrow(ClockUntrusted);
  expect(types()).toEqual(before);
  expect(await process.credits(false)).toMatchObject({ available: 9_980, reserved: 20 });
});
