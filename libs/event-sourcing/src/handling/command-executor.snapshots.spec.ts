import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { contextOf, tally, tallyEvents } from '../testing/tally.js';
import { CommandExecutor } from './command-executor.js';

const EVERY = 10;

/** An executor, and the revisions of which it kept the fold. */
const keeping = (store: InMemoryEventStore) => {
  const kept: [bigint, number][] = [];
  const executor = new CommandExecutor(store, tallyEvents, tally, {
    chained: true,
    cachedStreams: 10,
    checkpoint: { type: 'Carried' },
    snapshots: {
      every: BigInt(EVERY),
      find: async () => null,
      keep: async (_, { revision, state }) => void kept.push([BigInt(revision), state.total]),
    },
  });
  const add = async (times: number, ref: string) => {
    for (let time = 0; time < times; time += 1)
      await executor.execute('1', { type: 'add', by: 1, ref: `${ref}${time}` }, contextOf(`${ref}${time}`));
  };
  return { executor, kept, add };
};

it('The executor keeps a fold each time that a stream has grown by enough events', async () => {
  const { kept, add } = keeping(new InMemoryEventStore());
  await add(2 * EVERY + 5, 'a');
  expect(kept).toEqual([
    [9n, 10],
    [19n, 20],
  ]);
});

it('The executor keeps the fold of a stream that it reads when many events came since its last checkpoint', async () => {
  const store = new InMemoryEventStore();
  const writer = keeping(store);
  await writer.add(EVERY, 'a');
  await writer.executor.execute('1', { type: 'carry' }, contextOf('carry'));
  await writer.add(EVERY - 2, 'b');
  const { executor, kept, add } = keeping(store);
  await executor.load('1');
  expect(kept).toEqual([]);
  await add(1, 'c');
  expect(kept).toEqual([[BigInt(2 * EVERY - 1), 2 * EVERY - 1]]);
  const later = keeping(store);
  await later.executor.load('1');
  expect(later.kept).toEqual(kept);
});
