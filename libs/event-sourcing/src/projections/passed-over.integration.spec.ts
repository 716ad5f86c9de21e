import { describe, expect, it } from '@jest/globals';
import { streamId } from '../core/stream-name.js';
import type { Consumer } from './consumer.js';
import { consumersUnderTest, recording } from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();
const { start, eventually, append, caughtUp, appliedIds, logIds } = consumers;

/** Follows the streams whose id is short. */
const shortIds: Consumer = {
  ...recording,
  name: 'tally.short',
  follows: ({ stream }) => streamId(stream).length === 1,
};

describe('events that a consumer does not follow', () => {
  it('are not handled, and its checkpoint moves past them once it is quiet', async () => {
    await append('long', 'a', 'long');
    start(shortIds);
    await caughtUp(shortIds.name);
    await append('longer', 'longer');
    await caughtUp(shortIds.name);
    expect(await appliedIds()).toEqual([logIds()[1]]);
  });

  it('cost no transaction of their own while others come', async () => {
    const { pool } = consumers;
    let transactions = 0;
    const counted = {
      query: pool.query.bind(pool),
      connect: () => {
        transactions += 1;
        return pool.connect();
      },
    };
    await append('long', 'a', 'long', 'long', 'b', 'long');
    start(shortIds, { pool: counted as unknown as typeof pool, batchSize: 1 });
    await caughtUp(shortIds.name);
    // One for each event that it follows. The last move of the checkpoint needs none.
    expect(transactions).toBe(2);
  });

  it('are passed over again after a restart, and the first one that it follows is handled', async () => {
    await append('a');
    const first = start(shortIds);
    await caughtUp(shortIds.name);
    await append('long');
    await first.stop();
    await append('b');
    start(shortIds);
    await eventually(async () => (await appliedIds()).length === 2);
    expect(await appliedIds()).toEqual([logIds()[0], logIds()[2]]);
  });
});
