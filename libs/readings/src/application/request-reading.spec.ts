import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { InMemoryKeys } from '../../test/in-memory-keys.js';
import { asked, fence, requestHandler } from '../../test/readings.js';
import type { ReserveCredits } from '../contracts/ports.js';
import type { ReadingCommand } from '../domain/reading.decider.js';
import { createReadingExecutor } from '../executors.js';
import { type ReadingRequest, RequestReading, type RequestReadingHandler } from './request-reading.js';

const request = asked('Camille');
let store: InMemoryEventStore;
let keys: InMemoryKeys;
let reserved: Set<string>;
let settled: Set<string>;
/** What the ledger does when it receives a command. A test may intercept it. */
let reserve: (command: ReserveCredits) => Promise<unknown>;
let requests = 0;

beforeEach(() => {
  store = new InMemoryEventStore();
  keys = new InMemoryKeys();
  reserved = new Set();
  settled = new Set();
  reserve = async (command) => {
    const { reservationId } = askedBy(command);
    if (settled.has(reservationId)) return { outcome: 'reserved', amounts: new Map(), settled };
    reserved.add(reservationId);
    return { outcome: 'reserved', amounts: new Map([[reservationId, 20]]), settled: new Set() };
  };
});

const askedBy = ({ asked: { reservations } }: ReserveCredits) => reservations[0]!;

const AT = Date.parse('2026-09-29T23:31:00.000Z');
const context = { by: requestedBy('user:u', 'c'), workspaceId: 'ws_1', at: AT };

const api = (timeoutMs?: number): RequestReadingHandler =>
  requestHandler({ store, keys }, (command: ReserveCredits) => reserve(command), timeoutMs).handler;

const ask = (key: string | null = null, changed: Partial<ReadingRequest> = {}, livemode = true) =>
  new RequestReading(
    'ws_1',
    livemode,
    { ...request, ...changed },
    key,
    requestedBy('apiKey:k', `req_${(requests += 1)}`),
  );

const change = (readingId: string, command: ReadingCommand) =>
  createReadingExecutor(store).execute(readingId, command, { ...context, intent: command.type });

describe('requesting a reading', () => {
  it('seals the input, holds the credits, records the request and answers from it', async () => {
    const result = await api().execute(ask());
    expect(result).toMatchObject({
      outcome: 'accepted',
      reading: { status: 'queued', input: { displayName: 'Camille Laurent' } },
    });
    expect(store.log.map(({ type }) => type)).toEqual(['ReadingRequested']);
    const { data } = store.log[0]!;
    expect(data).toMatchObject({ asOf: '2026-09-29', cost: 20, reservationId: [...reserved][0] });
    expect(JSON.stringify(data)).not.toMatch(/Camille|Laurent|1990-06-15|feminine/);
  });

  it('records nothing when credits are insufficient or billing is not set up', async () => {
    reserve = async () => ({ outcome: 'insufficient', required: 20, available: 3 });
    expect(await api().execute(ask())).toEqual({
      outcome: 'insufficient_credits',
      required: 20,
      available: 3,
    });
    reserve = async () => ({ outcome: 'misconfigured', reason: 'no book' });
    expect(await api().execute(ask())).toEqual({ outcome: 'billing_misconfigured' });
    expect(store.log).toHaveLength(0);
    expect(keys.keys.size).toBe(0);
  });

  it('holds nothing while the key store is unavailable, and makes no key while the ledger is', async () => {
    const ready = keys.ready.bind(keys);
    keys.ready = () => Promise.reject(new StoreUnavailable('the KMS is away', false));
    await expect(api().execute(ask())).rejects.toBeInstanceOf(StoreUnavailable);
    expect(reserved.size).toBe(0);
    keys.ready = ready;
    reserve = () => Promise.reject(new StoreUnavailable('the ledger is away', false));
    await expect(api().execute(ask())).rejects.toBeInstanceOf(StoreUnavailable);
    expect(keys.keys.size).toBe(0);
  });

  it('under one key is accepted once, by however many processes at a time', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => api().execute(ask('k1'))));
    expect(results.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
    expect(results.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(19);
    expect(new Set(results.map((result) => 'reading' in result && result.reading.readingId)).size).toBe(1);
    expect(reserved.size).toBe(1);
    expect(store.log).toHaveLength(1);
  });

  it('under one key is a reading of its own in each mode, whose credits its own book holds', async () => {
    const books: boolean[] = [];
    const plain = reserve;
    reserve = (command) => {
      books.push(command.livemode);
      return plain(command);
    };
    const live = await api().execute(ask('k1'));
    const test = await api().execute(ask('k1', { locale: 'en-US' }, false));
    expect([live, test]).toMatchObject([
      { outcome: 'accepted', reading: { livemode: true } },
      { outcome: 'accepted', reading: { livemode: false } },
    ]);
    expect(books).toEqual([true, false]);
    expect(store.log.map(({ data }) => (data as { livemode: boolean }).livemode)).toEqual([true, false]);
  });

  it('shows its references, which are part of the body and of nothing that is recorded in clear', async () => {
    const references = { externalId: 'order-4711', metadata: { shop: 'paris' } };
    const given = (changed: object) => ask('k1', { input: { ...request.input, ...references, ...changed } });
    const first = await api().execute(given({}));
    expect(first).toMatchObject({ outcome: 'accepted', reading: references });
    expect('reading' in first && Object.keys(first.reading.input!)).not.toContain('externalId');
    expect(JSON.stringify(store.log.map(({ data }) => data))).not.toMatch(/4711|paris/);
    expect(await api().execute(given({}))).toEqual({ ...first, outcome: 'replayed' });
    for (const other of [{ externalId: 'order-4712' }, { metadata: {} }, { dateOfBirth: '1990-06-16' }])
      expect(await api().execute(given(other))).toEqual({ outcome: 'different_request' });
    expect(await api().execute(ask('k1'))).toEqual({ outcome: 'different_request' });
    expect(await api().execute(ask())).toMatchObject({ reading: { externalId: null, metadata: null } });
  });

  it('leaves a keyed digest of its external id with its key, and none without an external id', async () => {
    const lookups: (Buffer | null | undefined)[] = [];
    const create = keys.create.bind(keys);
    keys.create = (subjectId: string, ...[, lookup]: (string | Buffer | null)[]) => {
      lookups.push(lookup as Buffer | null);
      return create(subjectId);
    };
    for (const externalId of ['Caf\u00e9', 'Cafe\u0301', 'other'])
      await api().execute(ask(null, { input: { ...request.input, externalId } }));
    await api().execute(ask());
    const [one, same, other, none] = lookups;
    expect([one, none]).toEqual([same, null]);
    expect([one!.length, one!.equals(other!)]).toEqual([32, false]);
  });

  it('under the key of an erased reading gets one answer, whatever the body, and creates nothing', async () => {
    await api().execute(ask('k1'));
    const readingId = store.log[0]!.stream.slice('reading-'.length);
    await change(readingId, { type: 'EraseReading' });
    const recorded = store.log.length;
    const repeat = async () => [
      await api().execute(ask('k1')),
      await api().execute(ask('k1', { locale: 'en-US' })),
    ];
    // The stream says so before the key is destroyed. Without the key, the answer is the same.
    expect(await repeat()).toEqual([{ outcome: 'erased' }, { outcome: 'erased' }]);
    await keys.destroy(readingId);
    expect(await repeat()).toEqual([{ outcome: 'erased' }, { outcome: 'erased' }]);
    expect([store.log.length, reserved.size, keys.keys.size]).toEqual([recorded, 1, 0]);
  });

  it('that races with one accepted and erased meanwhile leaves no key', async () => {
    const plain = reserve;
    let raced = false;
    reserve = async (command) => {
      if (!raced) {
        raced = true;
        await api().execute(ask('k1'));
        const { readingId } = askedBy(command);
        await change(readingId, { type: 'EraseReading' });
        await keys.destroy(readingId);
      }
      return plain(command);
    };
    expect(await api().execute(ask('k1'))).toEqual({ outcome: 'erased' });
    expect(keys.keys.size).toBe(0);
  });

  it('repeats the first answer even when the reading has changed since', async () => {
    const first = await api().execute(ask('k1'));
    const readingId = store.log[0]!.stream.slice('reading-'.length);
    await change(readingId, {
      type: 'StartAttempt',
      workerId: 'w',
      now: '2026-09-29T23:31:00.000Z',
      leaseUntil: '2026-09-29T23:32:00.000Z',
    });
    const again = await api().execute(ask('k1'));
    expect(again.outcome).toBe('replayed');
    expect('reading' in again && again.reading).toEqual('reading' in first && first.reading);
  });

  it('under the key of a failed reading gets that failure, which a repetition cannot undo', async () => {
    await api().execute(ask('k1'));
    const readingId = store.log[0]!.stream.slice('reading-'.length);
    await change(readingId, { type: 'TimeOutReading' });
    expect(await api().execute(ask('k1'))).toMatchObject({
      outcome: 'replayed',
      reading: { readingId, status: 'failed', error: { code: 'timed_out' } },
    });
    expect(reserved.size).toBe(1);
  });

  it('that crashed after its hold leaves a hold that can be fenced, and the retry takes a new one', async () => {
    const append = store.append.bind(store);
    store.append = () => Promise.reject(new StoreUnavailable('crash', false));
    await expect(api().execute(ask('k1'))).rejects.toBeInstanceOf(StoreUnavailable);
    store.append = append;
    const [orphan] = [...reserved];
    const readingId = [...keys.keys.keys()][0]!;
    expect(await fence(store, readingId, orphan!)).toEqual({ outcome: 'abandoned' });
    settled.add(orphan!);
    expect((await api().execute(ask('k1'))).outcome).toBe('accepted');
    expect(reserved.size).toBe(2);
    expect(store.log.map(({ type }) => type)).toEqual(['ReadingAbandoned', 'ReadingRequested']);
  });

  it('whose hold is fenced between reserving and recording takes a new one; the fenced one stays unused', async () => {
    const plain = reserve;
    let raced = false;
    reserve = async (command) => {
      const answer = await plain(command);
      if (!raced) {
        raced = true;
        const { readingId, reservationId } = askedBy(command);
        await fence(store, readingId, reservationId);
        settled.add(reservationId);
      }
      return answer;
    };
    expect((await api().execute(ask())).outcome).toBe('accepted');
    const used = (store.log.at(-1)!.data as { reservationId: string }).reservationId;
    expect(settled.has(used)).toBe(false);
  });

  it('times out when the ledger does not answer, and then records nothing', async () => {
    let answer: (value: unknown) => void = () => undefined;
    reserve = () => new Promise((resolve) => (answer = resolve));
    await expect(api(50).execute(ask())).rejects.toBeInstanceOf(StoreUnavailable);
    answer({ outcome: 'reserved', amounts: new Map(), settled: new Set() });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(store.log).toHaveLength(0);
  });
});
