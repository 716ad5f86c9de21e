import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import { requestedBy } from '../core/request-context.js';
import { CommandExecutor } from '../commands/command-executor.js';
import type { EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { METADATA, addedToAppend, contextOf, tally, tallyEvents } from '../testing/tally.js';
import { SET_ASIDE_STREAM, readSetAside, recordSetAside, withSetAside } from './set-aside.js';

const ADA = requestedBy('operator:ada', 'ops_1');
const unknown = { id: 'u', type: 'Unheard', data: { any: 'thing' }, metadata: METADATA };
let raw: InMemoryEventStore;
let store: EventStore;

beforeEach(() => {
  raw = new InMemoryEventStore();
  store = withSetAside(raw);
});

const decisionOn = (stream: string, revision: string, consumers: string[] | null) => {
  const place = { stream, revision, eventId: 'u', eventType: 'Unheard' };
  return { ...place, consumers, cause: 'not known', reason: 'INC-42' };
};
const setAside = (consumers: string[] | null, revision = '1', stream = 'tally-1') =>
  recordSetAside(store, decisionOn(stream, revision, consumers), ADA);
const marks = async () => {
  const found: unknown[] = [];
  for await (const event of store.read('tally-1')) found.push(event.setAside?.consumers);
  return found;
};

describe('a decision to set an event aside', () => {
  it('marks the event for every reader of the store, and no other event', async () => {
    await raw.append('tally-1', 'no_stream', [addedToAppend('a', 'a'), unknown]);
    expect(await marks()).toEqual([undefined, undefined]);
    await setAside(['billing.a', 'billing.b']);
    expect(await marks()).toEqual([undefined, ['billing.a', 'billing.b']]);
    await setAside(['billing.c', 'billing.a']);
    expect(await marks()).toEqual([undefined, ['billing.a', 'billing.b', 'billing.c']]);
    await setAside(null);
    expect(await marks()).toEqual([undefined, null]);
    for await (const event of store.readAll({ direction: 'backwards' }))
      expect(event.setAside?.reason).toBe(event.id === 'u' ? 'INC-42' : undefined);
  });

  it('of another process reaches a subscription that has been open for long', async () => {
    const subscription = store.subscribe({ after: null, categories: ['tally'] });
    const events = subscription[Symbol.asyncIterator]();
    const seen = async () => ((await events.next()).value as StoredEvent).setAside?.reason;
    await raw.append('tally-1', 'no_stream', [addedToAppend('a', 'a')]);
    expect(await seen()).toBeUndefined();
    const idle = seen();
    await recordSetAside(withSetAside(raw), decisionOn('tally-1', '1', null), ADA);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_000);
    await raw.append('tally-1', 0n, [addedToAppend('b', 'b')]);
    expect(await idle).toBe('INC-42');
    jest.restoreAllMocks();
    await subscription.close();
  });

  it('lets commands on the stream continue that the event had stopped', async () => {
    await raw.append('tally-1', 'no_stream', [
      addedToAppend('a', 'a', 5),
      unknown,
      addedToAppend('b', 'b', 7),
    ]);
    const executor = new CommandExecutor(store, tallyEvents, tally, { cachedStreams: 10 });
    const add = async (ref: string) =>
      (await executor.execute('1', { type: 'add', by: 1, ref }, contextOf(ref))).state.total;
    await expect(add('c')).rejects.toThrow(CorruptEvent);
    await setAside(null);
    expect(await add('c')).toBe(13);
  });

  it('is not prevented by entries in its stream that are no decisions, which are told', async () => {
    await raw.append(SET_ASIDE_STREAM, 'no_stream', [{ ...unknown, id: 'x' }]);
    await setAside(null);
    const register = await readSetAside(store);
    expect(register.all()).toHaveLength(1);
    expect(register.unreadable().map(({ revision }) => revision)).toEqual([0n]);
    await setAside(null, '0', SET_ASIDE_STREAM);
    expect((await readSetAside(store)).unreadable()).toEqual([]);
  });

  it('is recorded by each of two operators who decide at the same time', async () => {
    await Promise.all([setAside(['a']), setAside(['b'], '2')]);
    expect((await readSetAside(raw)).all().map(({ consumers }) => consumers)).toEqual([['a'], ['b']]);
  });
});
