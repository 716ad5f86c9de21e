import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '../core/event.js';
import type { EventStore, ReadOptions } from '../store/event-store.js';
import { addedToAppend, tally, tallyEvents, type Tally, type TallyEvent } from '../testing/tally.js';
import { StreamFolder } from './command-executor.js';

const stored = (revision: bigint): StoredEvent => ({
  ...addedToAppend(`id${revision}`, `ref${revision}`),
  stream: 'tally-1',
  revision,
  position: revision,
});

const chained = (revision: bigint): StoredEvent => {
  const event = stored(revision);
  return { ...event, metadata: { ...event.metadata, chain: `c${revision}` } };
};

describe('a stream with thousands of events since its last checkpoint', () => {
  const LENGTH = 25_000n;
  const CHECKPOINT = 5_000n;
  const sum = {
    ...tally,
    evolve: (state: Tally, { type, data }: TallyEvent) =>
      type === 'Carried' ? data : { ...state, total: state.total + data.by },
  };

  /** Says which events a reader took: the first and the last of each read. */
  const longStream = () => {
    const reads: { from: bigint | undefined; taken: bigint[] }[] = [];
    const at = (revision: bigint): StoredEvent => ({
      ...chained(revision),
      ...(revision === CHECKPOINT && { type: 'Carried', data: { total: 1_000_000, refs: [] } }),
    });
    const store = {
      async *read(_: string, { from, direction = 'forwards', limit = Infinity }: ReadOptions = {}) {
        const taken: bigint[] = [];
        reads.push({ from, taken });
        const step = direction === 'forwards' ? 1n : -1n;
        const start = from ?? (step > 0n ? 0n : LENGTH - 1n);
        let left = limit;
        for (let revision = start; left > 0 && revision >= 0n && revision < LENGTH; revision += step) {
          left -= 1;
          taken[taken.length === 0 ? 0 : 1] = revision;
          yield at(revision);
        }
      },
    } as Partial<EventStore> as EventStore;
    return { store, reads };
  };
  const total = 1_000_000 + Number(LENGTH - CHECKPOINT - 1n);

  it('is read twice, and never held whole', async () => {
    const { store, reads } = longStream();
    const folder = new StreamFolder(store, tallyEvents, sum, { type: 'Carried' });
    const { state, revision } = await folder.read('tally-1', null);
    expect([state.total, revision]).toEqual([total, LENGTH - 1n]);
    expect(reads).toEqual([
      { from: undefined, taken: [LENGTH - 1n, CHECKPOINT] },
      { from: CHECKPOINT, taken: [CHECKPOINT, LENGTH - 1n] },
    ]);
  });
});
