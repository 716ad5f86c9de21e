import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { InMemoryKeys } from '../../test/in-memory-keys.js';
import { asked, fence, requestHandler } from '../../test/readings.js';
import { createBatchExecutor } from '../executors.js';
import type { BatchMode } from '../contracts/events.js';
import type { ReserveCredits } from '../contracts/ports.js';
import type { ReadingRequest } from './request-reading.js';
import { RequestBatch, RequestBatchHandler } from './request-batch.js';

const ITEMS = ['Anna', 'Berta', 'Clara'].map(asked);

let store: InMemoryEventStore;
let keys: InMemoryKeys;
let credits: number;
let held: Map<string, string>;
let settled: Set<string>;
let reservations: number;
let requests = 0;

beforeEach(() => {
  store = new InMemoryEventStore();
  keys = new InMemoryKeys();
  credits = 100;
  held = new Map();
  settled = new Set();
  reservations = 0;
});

/** A ledger: holds 20 credits for each reservation. */
const ledger = async ({ asked: wanted }: ReserveCredits): Promise<unknown> => {
  reservations += 1;
  const ids = wanted.reservations.map(({ reservationId }) => reservationId);
  const fresh = wanted.reservations.filter(({ reservationId: id }) => !held.has(id) && !settled.has(id));
  const insufficient = { outcome: 'insufficient', required: 20 * fresh.length, available: credits };
  if (wanted.all && credits < 20 * fresh.length) return insufficient;
  for (const { reservationId, readingId } of fresh) {
    if (credits < 20) break;
    credits -= 20;
    held.set(reservationId, readingId);
  }
  return {
    outcome: 'reserved',
    amounts: new Map(ids.filter((id) => held.has(id)).map((id) => [id, 20])),
    settled: new Set(ids.filter((id) => settled.has(id))),
  };
};

const api = (acceptedWithinMs = 60_000): RequestBatchHandler => {
  const { clock, bus, readings, digester, keys: all, handler } = requestHandler({ store, keys }, ledger);
  const batches = createBatchExecutor(store);
  return new RequestBatchHandler(batches, clock, bus, readings, digester, all, handler, acceptedWithinMs);
};

const ask = (
  items: readonly (ReadingRequest | null)[] = ITEMS,
  { mode = 'all', key = 'k', withinMs, stands }: Asked = {},
) => {
  const by = requestedBy('apiKey:k', `req_${(requests += 1)}`);
  return api(withinMs).execute(new RequestBatch('ws_1', true, mode, items, key, by, stands));
};
interface Asked {
  readonly mode?: BatchMode;
  readonly key?: string | null;
  readonly withinMs?: number;
  readonly stands?: () => Promise<void>;
}
const requested = () => store.log.filter(({ type }) => type === 'ReadingRequested');

/** The nth append from now on fails, before or after it is done. */
const failAt = (nth: number, isDone: boolean): void => {
  const append = store.append.bind(store);
  let appends = 0;
  store.append = async (...args) => {
    appends += 1;
    if (appends < nth) return append(...args);
    if (appends === nth && isDone) await append(...args);
    throw new StoreUnavailable('killed', false);
  };
};

describe('requesting a batch', () => {
  it('reserves once, fixes what is refused, then requests each reading with its own reservation', async () => {
    const result = await ask();
    expect(result).toMatchObject({ outcome: 'accepted', items: ITEMS.map(() => ({ outcome: 'accepted' })) });
    expect(reservations).toBe(1);
    expect(store.log.map(({ type }) => type)).toEqual([
      'BatchRequested',
      'ReadingRequested',
      'ReadingRequested',
      'ReadingRequested',
    ]);
    const used = requested().map(({ data, stream }) => [
      (data as { reservationId: string }).reservationId,
      stream.slice('reading-'.length),
    ]);
    expect(new Map(used as [string, string][])).toEqual(held);
    expect(credits).toBe(40);
  });

  it('stores nothing when the credits do not reach for all, and accepts the first when as many as possible', async () => {
    credits = 50;
    expect(await ask()).toEqual({ outcome: 'insufficient_credits', required: 60, available: 50 });
    expect([store.log, keys.keys.size, held.size]).toEqual([[], 0, 0]);
    const some = await ask([null, ...ITEMS], { mode: 'available' });
    expect('items' in some && some.items.map(({ outcome }) => outcome)).toEqual([
      'invalid',
      'accepted',
      'accepted',
      'no_credits',
    ]);
    credits = 100;
    expect(await ask([null, ...ITEMS], { mode: 'available' })).toEqual({ ...some, outcome: 'replayed' });
    expect(credits).toBe(100);
  });

  it('that accepts nothing is not recorded, and may be requested again', async () => {
    credits = 0;
    const refused = await ask([null, ITEMS[0]!], { mode: 'available' });
    const items = [{ outcome: 'invalid' }, { outcome: 'no_credits' }];
    expect(refused).toEqual({ outcome: 'accepted', batchId: null, items });
    expect([store.log, keys.keys.size]).toEqual([[], 0]);
    credits = 20;
    const again = await ask([null, ITEMS[0]!], { mode: 'available' });
    expect(again).toMatchObject({ outcome: 'accepted', batchId: expect.any(String) });
  });

  it('that stopped after any step continues under its key, and reserves and requests nothing twice', async () => {
    for (const nth of [1, 2, 3, 4])
      for (const isDone of [false, true]) {
        store = new InMemoryEventStore();
        [credits, held, keys] = [60, new Map(), new InMemoryKeys()];
        const append = store.append.bind(store);
        failAt(nth, isDone);
        await expect(ask()).rejects.toBeInstanceOf(StoreUnavailable);
        store.append = append;
        const again = await ask();
        expect('items' in again && again.items.map(({ outcome }) => outcome)).toEqual([
          'accepted',
          'accepted',
          'accepted',
        ]);
        expect([requested().length, held.size, credits]).toEqual([3, 3, 0]);
        expect(await ask()).toEqual({ ...again, outcome: 'replayed' });
      }
  });

  it.each([
    ['before', 1],
    ['after', 2],
  ])('whose holds were fenced after a crash %s it was recorded takes others', async (_, nth) => {
    const append = store.append.bind(store);
    failAt(nth, false);
    await expect(ask()).rejects.toBeInstanceOf(StoreUnavailable);
    // The readings that were under way have failed, too.
    await new Promise((resolve) => setTimeout(resolve, 50));
    store.append = append;
    const fenced = new Map(held);
    for (const [reservationId, readingId] of held) {
      await fence(store, readingId, reservationId);
      credits += 20;
    }
    // So long ago that the ledger has forgotten them.
    held.clear();
    expect(await ask()).toMatchObject({ items: ITEMS.map(() => ({ outcome: 'accepted' })) });
    expect([requested().length, held.size]).toEqual([3, 3]);
    expect([...held.keys()].filter((id) => fenced.has(id))).toEqual([]);
  });

  it('takes another reservation for a reading whose hold is fenced meanwhile', async () => {
    const append = store.append.bind(store);
    const fenced = new Set<string>();
    store.append = async (stream, ...rest) => {
      const answer = await append(stream, ...rest);
      if (!stream.startsWith('batch-')) return answer;
      const [reservationId, readingId] = [...held][0]!;
      await fence(store, readingId, reservationId);
      settled.add(reservationId);
      held.delete(reservationId);
      fenced.add(reservationId);
      return answer;
    };
    expect(await ask()).toMatchObject({ items: ITEMS.map(() => ({ outcome: 'accepted' })) });
    const used = requested().map(({ data }) => (data as { reservationId: string }).reservationId);
    expect(new Set(used)).toEqual(new Set(held.keys()));
    expect(used.filter((id) => fenced.has(id))).toEqual([]);
  });

  it('under a used key with other readings, another number or another mode is refused', async () => {
    await ask();
    const before = store.log.length;
    for (const [items, mode] of [
      [[ITEMS[0]!, ITEMS[1]!, asked('Dora')], 'all'],
      [ITEMS.slice(0, 2), 'all'],
      [ITEMS, 'available'],
      [[ITEMS[0]!, ITEMS[1]!, null], 'all'],
    ] as const)
      expect(await ask(items, { mode })).toEqual({ outcome: 'different_request' });
    expect(store.log).toHaveLength(before);
  });

  it('that stopped, repeated with other readings, accepts none of them', async () => {
    const many = Array.from({ length: 100 }, (_, index) => asked(`Anna ${String.fromCodePoint(97 + index)}`));
    credits = 2_000;
    const append = store.append.bind(store);
    let accepted = 0;
    // Only the first one is accepted.
    store.append = async (stream, ...rest) => {
      if (!stream.startsWith('reading-')) return append(stream, ...rest);
      accepted += 1;
      if (accepted === 1) return append(stream, ...rest);
      throw new StoreUnavailable('killed', false);
    };
    await expect(ask(many)).rejects.toBeInstanceOf(StoreUnavailable);
    await new Promise((resolve) => setTimeout(resolve, 50));
    store.append = append;
    expect(requested()).toHaveLength(1);
    const others = many.map((_, index) => asked(`Berta ${String.fromCodePoint(97 + index)}`));
    expect(await ask(others)).toEqual({ outcome: 'different_request' });
    expect(requested()).toHaveLength(1);
    expect(await ask(many)).toMatchObject({ outcome: 'replayed' });
    expect([requested().length, held.size]).toEqual([100, 100]);
  });

  it('under one key at the same time is accepted once', async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => ask()));
    const all = results.map((one) => ('items' in one ? one.items : null));
    for (const items of all) expect(items).toEqual(all[0]);
    expect([requested().length, credits]).toEqual([3, 40]);
  });
});

it('accepts no more readings a second after the key of its caller has ended', async () => {
  credits = 6_000;
  const many = Array.from({ length: 300 }, () => ITEMS[0]!);
  const append = store.append.bind(store);
  const begunAt = performance.now();
  const now = jest.spyOn(performance, 'now');
  store.append = async (...of) => {
    if (requested().length > 0) now.mockReturnValue(begunAt + 2_000);
    return append(...of);
  };
  const stands = async () => {
    if (requested().length > 0) throw new Error('the key has ended');
  };
  await expect(ask(many, { stands })).rejects.toThrow('the key has ended');
  now.mockRestore();
  expect(requested().length).toBeLessThan(many.length);
});
