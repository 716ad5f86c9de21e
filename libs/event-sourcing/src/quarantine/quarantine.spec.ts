import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '../core/request-context.js';
import { CommandExecutor } from '../handling/command-executor.js';
import type { EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { METADATA, addedToAppend, contextOf, tally, tallyEvents } from '../testing/tally.js';
import { QUARANTINE_STREAM } from './quarantine-events.js';
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

const quarantine = (consumers: string[] | null, revision = '1', stream = 'tally-1') =>
  recordQuarantine(
    store,
    {
      type: 'EventQuarantined',
      data: {
        stream,
        revision,
        eventId: 'u',
        eventType: 'Unheard',
        consumers,
        cause: 'not known',
        reason: 'INC-42',
        until: null,
      },
    },
    ADA,
  );
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
