import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { accept, ignore, reject, type Rejection, type Decider } from '../core/decider.js';
import { event, eventCatalogue, type EventOf } from '../core/event-catalogue.js';
import { intercept, type EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { requestedBy } from '../core/request-context.js';
import type { CommandContext } from './prepare-event.js';
import { CommandExecutor } from './command-executor.js';

const lamps = eventCatalogue('lamp', {
  Lit: event(1, z.strictObject({})),
  Quenched: event(1, z.strictObject({})),
});
type Command = { type: 'Light' } | { type: 'Quench' };

const lampDecider: Decider<Command, EventOf<typeof lamps>, boolean, Rejection<'Dark', null>> = {
  initialState: false,
  decide: (command, lit) => {
    if (command.type === 'Light') return lit ? ignore('AlreadyLit') : accept({ type: 'Lit', data: {} });
    return lit ? accept({ type: 'Quenched', data: {} }) : reject('Dark', null);
  },
  evolve: (_, { type }) => type === 'Lit',
};

let intents = 0;
const context = (): CommandContext => ({
  intent: `intent-${(intents += 1)}`,
  by: requestedBy('test', 'c'),
  workspaceId: 'w',
  at: 0,
});

describe('an executor that keeps folded state', () => {
  it('does not reject or ignore a command on a stale state', async () => {
    const store = new InMemoryEventStore();
    const here = new CommandExecutor(store, lamps, lampDecider, { cachedStreams: 10 });
    const elsewhere = new CommandExecutor(store, lamps, lampDecider, { cachedStreams: 10 });
    await here.execute('a', { type: 'Light' }, context());
    await elsewhere.execute('a', { type: 'Quench' }, context());

    expect((await here.execute('a', { type: 'Light' }, context())).kind).toBe('accepted');
    expect((await elsewhere.execute('a', { type: 'Quench' }, context())).kind).toBe('accepted');
    expect((await here.execute('a', { type: 'Quench' }, context())).kind).toBe('rejected');
    expect(store.log.map(({ type }) => type)).toEqual(['Lit', 'Quenched', 'Lit', 'Quenched']);
  });

  it('folds the stream again when the store was restored from a copy that is older than the state', async () => {
    const [lost, copy] = [new InMemoryEventStore(), new InMemoryEventStore()];
    let store = lost;
    const doors: Partial<EventStore> = {
      append: (...asked) => store.append(...asked),
      read: (...asked) => store.read(...asked),
    };
    const executor = new CommandExecutor(intercept(lost, doors), lamps, lampDecider, { cachedStreams: 10 });
    for (const type of ['Light', 'Quench'] as const) await executor.execute('a', { type }, context());
    await new CommandExecutor(copy, lamps, lampDecider).execute('a', { type: 'Light' }, context());

    store = copy;
    expect((await executor.execute('a', { type: 'Light' }, context())).kind).toBe('ignored');
    expect((await executor.execute('a', { type: 'Quench' }, context())).kind).toBe('accepted');
  });
});
