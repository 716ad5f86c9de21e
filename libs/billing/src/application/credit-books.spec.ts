import { beforeEach, describe, expect, it } from '@jest/globals';
import { instant, ClockUntrusted } from '#event-sourcing/core/clock.js';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import { CHAIN_START, nextChain } from '#event-sourcing/core/hash-chain.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { BY, WS, billingProcess } from '../../test/billing-process.js';
import type { CreditsEvent } from '../contracts/events.js';
import { violations } from '../domain/invariants.js';

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

  it('never spends more than there is, when several processes reserve at once', async () => {
    const processes = [openProcess(), openProcess(), openProcess()];
    await processes[0]!.open();
    await processes[0]!.adjust('a1', 100);
    const results = await Promise.all(numbers(90).map((id, index) => processes[index % 3]!.reserve(id)));
    expect(results.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(5);
    expect(await processes[0]!.balance()).toMatchObject({ available: 0, held: 100 });
  });

  it('holds once for one reservation, however often and in whichever process it is requested', async () => {
    const [here, there] = [openProcess(), openProcess()];
    await here.open();
    await here.purchase('flex', 'o1');
    const results = await Promise.all([here.reserve('r1'), there.reserve('r1'), here.reserve('r1')]);
    expect(results).toEqual(Array(3).fill({ outcome: 'reserved', amount: 20 }));
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
  it('is opened once by any number of processes', async () => {
    await Promise.all([openProcess().open(), openProcess().open(), openProcess().open()]);
    expect(types()).toEqual(['BookOpened']);
  });

  it('answers what a purchase, a subscription and an adjustment left available', async () => {
    const process = openProcess();
    await process.open();
    const may10 = '2026-05-10T00:00:00.000Z';
    const subscription = { plan: 'studio', nextGrantAt: may10, nextPlan: null, endsAt: null };
    expect(await process.subscribe('studio')).toMatchObject({
      outcome: 'subscribed',
      available: 400,
      effectiveAt: new Date(now).toISOString(),
      subscription,
    });
    expect(await process.subscribe('studio')).toMatchObject({
      outcome: 'already_subscribed',
      available: 400,
      effectiveAt: null,
      subscription,
    });
    expect(await process.subscribe('access_local')).toEqual({ outcome: 'approval_required' });
    expect(await process.subscribe('pro')).toMatchObject({ outcome: 'subscribed', effectiveAt: may10 });
    expect(await process.subscribe('pro')).toMatchObject({
      outcome: 'already_subscribed',
      effectiveAt: may10,
      subscription: { ...subscription, nextPlan: 'pro' },
    });
    expect(await process.purchase('flex', 'o1')).toEqual({ outcome: 'purchased', available: 450 });
    expect(await process.purchase('flex', 'o1')).toEqual({ outcome: 'already_purchased', available: 450 });
    expect(await process.adjust('a1', -30)).toMatchObject({ kind: 'accepted' });
    expect(await process.adjust('a1', -30)).toMatchObject({ kind: 'ignored' });
    expect(await process.adjust('a2', -421)).toMatchObject({
      kind: 'rejected',
      details: { required: 421, available: 420 },
    });
    expect(await process.cancel()).toEqual({ outcome: 'cancelled', effectiveAt: may10 });
    expect(await process.cancel()).toEqual({ outcome: 'already_cancelled', effectiveAt: may10 });
  });

  it('that is not open cannot be changed', async () => {
    const process = openProcess();
    const refused = { outcome: 'book_not_open' };
    expect(await process.subscribe('studio')).toEqual(refused);
    expect(await process.cancel()).toEqual(refused);
    expect(await process.purchase('flex', 'o1')).toEqual(refused);
    expect(await process.adjust('a1', 5)).toMatchObject({ kind: 'rejected', code: 'BookNotOpen' });
    expect(await process.settle('r1', 'capture')).toEqual(refused);
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
  it('is recorded once, however many processes notice it', async () => {
    const processes = [openProcess(), openProcess()];
    await processes[0]!.open();
    await processes[0]!.subscribe('studio');
    now = Date.parse('2026-06-15T00:00:00.000Z');
    await Promise.all([...processes, ...processes].map((process) => process.due()));
    expect(types().slice(3)).toEqual([
      'PeriodClosed',
      'GrantExpired',
      'PlanGranted',
      'PeriodClosed',
      'GrantExpired',
      'PlanGranted',
    ]);
  });

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

  it('names the caller, and chains every event to the one before it', async () => {
    const process = openProcess();
    await process.open();
    await process.purchase('flex', 'o1');
    await Promise.all(['r1', 'r2', 'r3'].map((id) => process.reserve(id)));
    let chain = CHAIN_START;
    for (const { stream, revision, id, type, data, metadata } of store.log) {
      // The order line of the pack is in a stream of its own.
      if (!stream.startsWith('credits-')) continue;
      const { schemaVersion, occurredAt } = metadata;
      const facts = {
        stream,
        revision: String(revision),
        eventId: id,
        type,
        schemaVersion,
        occurredAt,
        data,
      };
      chain = nextChain(chain, facts);
      expect(metadata).toMatchObject({ ...BY, workspaceId: WS, chain });
    }
  });
});

describe('test books', () => {
  const DAY_MS = 86_400_000;
  let now: number;
  let store: InMemoryEventStore;
  let isTrusted: boolean;

  /** One process of several, with a clock that may be off. */
  const openProcess = (skewMs = 0) => {
    const clock = () => {
      if (!isTrusted) throw new ClockUntrusted('the clocks differ');
      return now + skewMs;
    };
    const process = billingProcess(store, { now: clock });
    return {
      reserve: (id: string) => process.reserve(id, 'theme', false),
      settle: (id: string, how: 'capture' | 'release') => process.settle(id, how, false),
      credits: () => process.credits(false),
    };
  };
  const types = () => store.log.map(({ type }) => type);
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);

  beforeEach(() => {
    now = Date.parse('2026-04-10T12:00:00.000Z');
    store = new InMemoryEventStore();
    isTrusted = true;
  });

  describe('the test credits of a workspace', () => {
    it('are filled in once, although three processes race for the first use of a day', async () => {
      const processes = [openProcess(), openProcess(), openProcess()];
      for (const day of [1, 2]) {
        const results = await Promise.all(
          ids(30).map((id, index) => processes[index % 3]!.reserve(`${day}${id}`)),
        );
        expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'reserved'));
        for (const id of ids(10)) await processes[0]!.settle(`${day}${id}`, 'capture');
        now += DAY_MS;
      }
      expect(types().filter((type) => type === 'CreditsAdjusted')).toHaveLength(2);
      expect(violations(store.log as unknown as readonly CreditsEvent[])).toEqual([]);
      expect(new Set(store.log.map(({ stream }) => stream))).toEqual(new Set([`testbook-${WS}`]));
    });

    it('are filled in once at midnight, although the clocks of two processes are on two days', async () => {
      const [early, late] = [openProcess(-5_000), openProcess(5_000)];
      await early.reserve('r1');
      now = Date.parse('2026-04-11T00:00:00.000Z');
      for (const id of ['r2', 'r4', 'r6']) {
        await late.reserve(id);
        await early.reserve(`${id}'`);
      }
      expect(types().filter((type) => type === 'CreditsAdjusted')).toHaveLength(2);
    });

    it('run out at 10,000 on one day', async () => {
      const process = openProcess();
      const results = await Promise.all(ids(501).map((id) => process.reserve(id)));
      expect(results.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(500);
      expect(results.at(-1)).toEqual({ outcome: 'insufficient', required: 20, available: 0 });
      expect(await process.credits()).toEqual({ available: 0, reserved: 10_000, grants: [] });
      await Promise.all(ids(500).map((id) => process.settle(id, 'capture')));
      now += DAY_MS;
      expect(await process.credits()).toMatchObject({ available: 10_000, reserved: 0 });
      expect(await process.reserve('next')).toEqual({ outcome: 'reserved', amount: 20 });
    });

    it('are not moved while the clocks differ, and are shown as they were recorded', async () => {
      const process = openProcess();
      await process.reserve('r1');
      const before = types();
      now += DAY_MS;
      isTrusted = false;
      await expect(process.reserve('r2')).rejects.toThrow(ClockUntrusted);
      await expect(process.settle('r1', 'capture')).rejects.toThrow(ClockUntrusted);
      expect(types()).toEqual(before);
      expect(await process.credits()).toMatchObject({ available: 9_980, reserved: 20 });
    });

    it('are chained: each entry fits the one before, and names who asked for it', async () => {
      const process = openProcess();
      await process.reserve('r1');
      expect(types()).toEqual(['BookOpened', 'CreditsAdjusted', 'CreditsReserved']);
      for (const { metadata } of store.log) expect(metadata.chain).toMatch(/^[0-9a-f]{64}$/);
      expect(store.log[2]!.metadata).toMatchObject({ actor: BY.actor, workspaceId: WS });
    });
  });
});
