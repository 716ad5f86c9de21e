import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { StoredEvent } from '../core/event.js';
import { requestedBy } from '../core/request-context.js';
import { CommandExecutor } from '../handling/command-executor.js';
import type { EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { METADATA, addedToAppend, contextOf, tally, tallyEvents } from '../testing/tally.js';
import { QUARANTINE_STREAM, type QuarantineEvent } from './quarantine-events.js';
import { readQuarantines } from './quarantine-register.js';
import { recordQuarantine } from './record-quarantine.js';
import { withQuarantines } from './with-quarantines.js';

const ADA = requestedBy('operator:ada', 'ops_1');
const unknown = { id: 'u', type: 'Unheard', data: { any: 'thing' }, metadata: METADATA };
let raw: InMemoryEventStore;
let store: EventStore;

beforeEach(() => {
  raw = new InMemoryEventStore();
  store = withQuarantines(raw);
});

const decisionOn = (stream: string, revision: string, consumers: string[] | null): QuarantineEvent => {
  const place = { stream, revision, eventId: 'u', eventType: 'Unheard' };
  const data = { ...place, consumers, cause: 'not known', reason: 'INC-42', until: null };
  return { type: 'EventQuarantined', data };
};
const quarantine = (consumers: string[] | null, revision = '1', stream = 'tally-1') =>
  recordQuarantine(store, decisionOn(stream, revision, consumers), ADA);
const withdraw = () =>
  recordQuarantine(
    store,
    { type: 'QuarantineWithdrawn', data: { stream: 'tally-1', revision: '1', reason: 'known now' } },
    ADA,
  );
const marks = async () => {
  const found: unknown[] = [];
  for await (const event of store.read('tally-1')) found.push(event.quarantine?.consumers);
  return found;
};

describe('a quarantine', () => {
  it('marks the event for every reader of the store, and no other event', async () => {
    await raw.append('tally-1', 'no_stream', [addedToAppend('a', 'a'), unknown]);
    expect(await marks()).toEqual([undefined, undefined]);
    await quarantine(['billing.a', 'billing.b']);
    expect(await marks()).toEqual([undefined, ['billing.a', 'billing.b']]);
    await quarantine(['billing.c', 'billing.a']);
    expect(await marks()).toEqual([undefined, ['billing.a', 'billing.b', 'billing.c']]);
    await quarantine(null);
    expect(await marks()).toEqual([undefined, null]);
    for await (const event of store.readAll({ direction: 'backwards' }))
      expect(event.quarantine?.reason).toBe(event.id === 'u' ? 'INC-42' : undefined);
    await withdraw();
    expect(await marks()).toEqual([undefined, undefined]);
  });

  it('of another process reaches a subscription that has been open for long', async () => {
    const subscription = store.subscribe({ after: null, categories: ['tally'] });
    const events = subscription[Symbol.asyncIterator]();
    const seen = async () => ((await events.next()).value as StoredEvent).quarantine?.reason;
    await raw.append('tally-1', 'no_stream', [addedToAppend('a', 'a')]);
    expect(await seen()).toBeUndefined();
    const idle = seen();
    await recordQuarantine(withQuarantines(raw), decisionOn('tally-1', '1', null), ADA);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_000);
    await raw.append('tally-1', 0n, [addedToAppend('b', 'b')]);
    expect(await idle).toBe('INC-42');
    jest.restoreAllMocks();
    await subscription.close();
  });

  it('lets commands on the stream continue, and a withdrawal is seen by a folded stream', async () => {
    await raw.append('tally-1', 'no_stream', [addedToAppend('a', 'a', 5), addedToAppend('b', 'b', 7)]);
    const executor = new CommandExecutor(store, tallyEvents, tally, { cachedStreams: 10 });
    const add = async (ref: string) =>
      (await executor.execute('1', { type: 'add', by: 1, ref }, contextOf(ref))).state.total;
    expect(await add('c')).toBe(13);
    await quarantine(null);
    expect(await add('d')).toBe(7);
    await withdraw();
    expect(await add('e')).toBe(15);
  });

  it('is not prevented by entries in its stream that are no decisions, which are told', async () => {
    await raw.append(QUARANTINE_STREAM, 'no_stream', [{ ...unknown, id: 'x' }]);
    await quarantine(null);
    const register = await readQuarantines(store);
    expect(register.all()).toHaveLength(1);
    expect(register.unreadable().map(({ revision }) => revision)).toEqual([0n]);
    await quarantine(null, '0', QUARANTINE_STREAM);
    expect((await readQuarantines(store)).unreadable()).toEqual([]);
  });

  it('is recorded by each of two operators who decide at the same time', async () => {
    await Promise.all([quarantine(['a']), quarantine(['b'], '2')]);
    expect((await readQuarantines(raw)).all().map(({ consumers }) => consumers)).toEqual([['a'], ['b']]);
  });
});
