import { describe, expect, it } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import { parkedStreams } from './parked-streams.js';
import { rejoinLog, consumerLag } from './consumer-lag.js';
import type { EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { addedToAppend } from '../testing/tally.js';
import { consumersUnderTest, recording, uuid } from './testing/consumers-under-test.js';

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

describe('an event store that is older than PostgreSQL', () => {
  const HOUR_MS = 3_600_000;
  const NAMES = ['tally-a', 'tally-b', 'tally-c', 'tally-d', 'tally-e'];

  /** As after a restore: the first event of the log, and others since, more than were lost. */
  const restored = async (): Promise<EventStore> => {
    let now = Date.now() - HOUR_MS;
    const older = new InMemoryEventStore(() => now);
    for (const [index, stream] of NAMES.entries()) {
      await older.append(stream, 'no_stream', [
        index === 0 ? consumers.store.log[0]! : addedToAppend(uuid(700_000 + index), `r${index}`),
      ]);
      now = Date.now() + HOUR_MS;
    }
    return older;
  };

  it('is known by the event of a checkpoint after the log has grown past it, until the two are joined', async () => {
    await append('a', 'b', 'c');
    const before = start(recording);
    await caughtUp(recording.name);
    await before.stop();
    const store = await restored();
    expect(await consumerLag(consumers.pool, store)).toMatchObject([{ status: 'beyond_the_log' }]);
    start(recording, { store });
    await eventually(async () => consumers.logged.some(({ level }) => level === 'error'));
    expect(await appliedIds()).toEqual(logIds());

    expect(await rejoinLog(consumers.pool, store)).toBe(1);
    await eventually(async () => (await appliedIds()).length === 7);
    expect((await appliedIds()).slice(3)).toEqual([1, 2, 3, 4].map((index) => uuid(700_000 + index)));
    expect(await consumerLag(consumers.pool, store)).toMatchObject([{ status: 'running', events: 0 }]);
    expect(await rejoinLog(consumers.pool, store)).toBe(0);
  });

  it('keeps no stream parked for an event that it does not have', async () => {
    await append('a', 'b', 'c');
    const unreadable = { stream: 'tally-b', revision: 0n, type: 'Torn' };
    const before = start({
      ...recording,
      steps(events) {
        if (events.some(({ stream }) => stream === 'tally-b')) throw new CorruptEvent(unreadable, 'no');
        return recording.steps(events);
      },
    });
    await caughtUp(recording.name);
    await before.stop();
    expect(await parkedStreams(consumers.pool)).toMatchObject([{ stream: 'tally-b' }]);
    const store = await restored();
    expect(await rejoinLog(consumers.pool, store)).toBe(1);
    start(recording, { store });
    await eventually(async () => (await appliedIds()).includes(uuid(700_004)));
    expect(await appliedIds()).toContain(uuid(700_001));
    expect(await parkedStreams(consumers.pool)).toEqual([]);
  });
});
