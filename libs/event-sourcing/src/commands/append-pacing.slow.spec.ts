import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { intercept } from '../store/event-store.js';
import { contextOf, tally, tallyEvents } from '../testing/tally.js';
import { CommandExecutor } from './command-executor.js';

/** Delays reads and appends unevenly, as a network does. A process that must read first is later than others. */
const distant = (store: InMemoryEventStore) =>
  intercept(store, {
    append: async (...args) => {
      await delay(8 + 8 * Math.random());
      return store.append(...args);
    },
    read: async function* (...args) {
      await delay(8 + 8 * Math.random());
      yield* store.read(...args);
    },
  });

const PAIRS = 100;
const CALLERS = 2;
const EACH = 10;

/** Two processes whose callers append to one stream without a pause. */
const compete = async (): Promise<{ done: number; refused: readonly string[]; logged: number }> => {
  const store = new InMemoryEventStore();
  const done = { here: 0, there: 0 };
  const refused: string[] = [];
  const goesOn = (): boolean => refused.length === 0 && Math.min(done.here, done.there) < EACH;
  const work = async (name: keyof typeof done): Promise<void> => {
    const executor = new CommandExecutor(distant(store), tallyEvents, tally, { cachedStreams: 1 });
    const caller = async (index: number): Promise<void> => {
      for (let n = 0; goesOn(); n += 1) {
        const ref = `${name} ${index} ${n}`;
        await executor.execute('1', { type: 'add', by: 1, ref }, contextOf(ref)).then(
          () => (done[name] += 1),
          (error: unknown) => refused.push(`${ref}: ${String(error)}`),
        );
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  };
  await Promise.all([work('here'), work('there')]);
  return { done: done.here + done.there, refused, logged: store.log.length };
};

it('Two processes that append to one stream without a pause both make progress: no command is refused as too busy', async () => {
  const pairs = await Promise.all(Array.from({ length: PAIRS }, () => compete()));
  expect(pairs.flatMap(({ refused }) => refused)).toEqual([]);
  expect(pairs.filter(({ done, logged }) => logged !== done)).toEqual([]);
});
