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
