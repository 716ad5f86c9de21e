import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '../core/event.js';
import type { EventStore } from '../store/event-store.js';
import { addedToAppend, tally, tallyEvents } from '../testing/tally.js';
import { StreamFolder } from './stream-folder.js';

const stored = (revision: bigint): StoredEvent => ({
  ...addedToAppend(`id${revision}`, `ref${revision}`),
  stream: 'tally-1',
  revision,
  position: revision,
});

/** The second event is quarantined after a reader has got it. */
const changing = () => {
  let changes = 0;
  let isFresh = true;
  const store = {
    async *read(_: string, { direction = 'forwards' }: { direction?: string } = {}) {
      const events = [stored(0n), stored(1n)];
      for (const event of direction === 'forwards' ? events : events.toReversed()) {
        yield event;
        changes = 1;
      }
    },
    quarantines: {
      changesOf: () => changes,
      decisionsOn: () => BigInt(changes),
      isFresh: () => isFresh,
      refresh: async () => undefined,
    },
  } as Partial<EventStore> as EventStore;
  return { store, growOld: () => (isFresh = false) };
};

describe('a state folded while a quarantine changes', () => {
  it.each([[undefined], ['Carried']])('is out of date (checkpoint events: %s)', async (type) => {
    const folder = new StreamFolder(changing().store, tallyEvents, tally, type ? { type } : undefined);
    const loaded = await folder.read('tally-1', null);
    expect(folder.isOutdated('tally-1', loaded)).toBe(true);
    expect(folder.isOutdated('tally-1', await folder.read('tally-1', null))).toBe(false);
  });
});

it('A state that somebody else folded is not accepted while it is unknown whether quarantines have changed', () => {
  const { store, growOld } = changing();
  const folder = new StreamFolder(store, tallyEvents, tally);
  expect(folder.accept('tally-1', folder.empty())).not.toBeNull();
  growOld();
  expect(folder.accept('tally-1', folder.empty())).toBeNull();
});
