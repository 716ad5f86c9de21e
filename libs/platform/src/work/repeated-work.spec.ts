import { expect, it } from '@jest/globals';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { repeatedWork } from './repeated-work.js';

it('Repeated work continues after failed rounds, logs what they share once, and ends when aborted', async () => {
  const ending = new AbortController();
  const said: unknown[] = [];
  let rounds = 0;
  const loop = repeatedWork(
    'tidy',
    1,
    () => {
      rounds += 1;
      if (rounds === 4) ending.abort();
      // Its connection says so, once for the whole process.
      if (rounds === 1) return Promise.reject(new StoreUnavailable('away', false));
      return rounds === 2 || rounds === 3
        ? Promise.reject(new Error('the table is gone'))
        : Promise.resolve();
    },
    { warn: (...args: unknown[]) => void said.push(args) },
  );
  await loop.run(ending.signal);
  expect(rounds).toBe(4);
  expect(said).toEqual([[{ loop: 'tidy', reason: 'the table is gone', times: 1 }, 'round failed']]);
});
