import { describe, expect, it } from '@jest/globals';
import { consumersUnderTest, recording } from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();
const { start, eventually, append, caughtUp, appliedIds, logIds } = consumers;

/** As the promotion of an asynchronous standby does: rows and checkpoint go back together. */
const loseAllBut = async (first: number): Promise<void> => {
  await consumers.pool.query(
    `with lost as (delete from applied where event_id <> all ($1))
     update event_sourcing.consumer set position = $2`,
    [logIds().slice(0, first), first * 100],
  );
};

describe('a consumer whose rows and checkpoint went back while it was idle', () => {
  it('handles the events again, although no new one comes', async () => {
    await append('a', 'b', 'a');
    start(recording);
    await caughtUp(recording.name);
    await loseAllBut(1);
    expect(await appliedIds()).toEqual(logIds().slice(0, 1));
    await eventually(async () => (await appliedIds()).length === 3);
    expect(await appliedIds()).toEqual(logIds());
  });
});
