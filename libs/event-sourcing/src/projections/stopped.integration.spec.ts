import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { consumerLag } from './consumer-lag.js';
import type { Consumer } from './consumer.js';
import { AT, addedToAppend } from '../testing/tally.js';
import { requestedBy } from '../core/request-context.js';
import { stoppedStreams } from './parked-streams.js';
import { recordSetAside, withSetAside } from './set-aside.js';
import { consumersUnderTest, recording } from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();
const { append, appliedIds, eventually } = consumers;

/** Cannot handle events of `tally-bad`. */
const follower: Consumer = {
  ...recording,
  name: 'billing.money.v1',
  steps: (events) => {
    if (events.some(({ stream }) => stream === 'tally-bad')) throw new RangeError('no');
    return recording.steps(events);
  },
};
const start = (mostParked = 25) =>
  consumers.start(follower, {
    store: withSetAside(consumers.store),
    poisonAttempts: 1,
    mostParked,
    retryParkedMs: 500,
  });
const stopped = (name?: string) => stoppedStreams(consumers.pool, name);
const lag = async () =>
  (await consumerLag(consumers.pool, consumers.store, { now: Date.parse(AT) + 90_000 }))[0]!;
/** An operator's decision that the consumer passes over an event of `tally-bad`. */
const setAside = async (revision: number): Promise<void> =>
  recordSetAside(
    consumers.store,
    {
      stream: 'tally-bad',
      revision: String(revision),
      eventId: 'e',
      eventType: 'Added',
      consumers: ['billing.money.v1'],
      cause: 'RangeError: no',
      reason: 'written by a bug',
    },
    requestedBy('operator:ada', `ops_${revision}`),
  );

describe('a consumer at an event that it cannot handle', () => {
  it('parks the stream and alerts; it handles the rest in order once each bad event is set aside', async () => {
    await append('a', 'bad', 'b', 'bad');
    start();
    await eventually(async () => (await lag())?.events === 0);
    expect(await stopped()).toEqual([
      {
        consumer: 'billing.money.v1',
        state: 'parked',
        stream: 'tally-bad',
        key: 'bad',
        cause: 'tally-bad@0',
        position: 200n,
        error: 'RangeError: no',
        since: expect.any(Date),
      },
    ]);
    expect(consumers.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        consumer: 'billing.money.v1',
        stream: 'tally-bad',
        cause: 'tally-bad@0',
      }),
    );
    expect(await lag()).toMatchObject({ status: 'running', events: 0, seconds: 0, parkedStreams: 1 });
    await setAside(0);
    await eventually(async () => (await stopped())[0]?.cause === 'tally-bad@1');
    await setAside(1);
    await eventually(async () => (await stopped()).length === 0);
    await append('c');
    await eventually(async () => (await appliedIds()).length === 3);
    const sound = consumers.store.log.filter(({ stream }) => /^tally-[abc]$/.test(stream));
    expect(await appliedIds()).toEqual(sound.map(({ id }) => id));
  });

  it('that halted as a whole continues once the event is set aside', async () => {
    await append('a', 'bad', 'b');
    start(0);
    await eventually(async () => (await stopped()).length > 0);
    expect(await stopped()).toMatchObject([
      { state: 'halted', stream: 'tally-bad', cause: 'tally-bad@0', position: 200n, key: null },
    ]);
    expect(await lag()).toMatchObject({ status: 'halted', events: 2, seconds: 90 });
    expect(await stopped('other')).toEqual([]);
    await setAside(0);
    await eventually(async () => (await appliedIds()).length === 2);
  });
});

describe('the lag of consumers', () => {
  it('counts the unhandled events of each, and reports when there may be more', async () => {
    await append('a', 'b');
    await consumers.store.append('other-1', 'no_stream', [
      addedToAppend('00000000-0000-4000-9000-000000000001', 'x'),
    ]);
    await append('c');
    await consumers.pool.query(
      `insert into event_sourcing.consumer (name, position, categories) values
         ('one', 100, '{tally}'), ('never', null, '{other}'), ('there', 400, '{tally}'), ('one__v2', null, '{tally}')`,
    );
    const lags = await consumerLag(consumers.pool, consumers.store, { now: Date.parse(AT) + 5_000 });
    expect(
      lags.map(({ consumer, events, seconds, atLeast }) => [consumer, events, seconds, atLeast]),
    ).toEqual([
      ['never', 1, 5, false],
      ['one', 2, 5, false],
      ['there', 0, 0, false],
    ]);
    expect(lags.every(({ status }) => status === 'running')).toBe(true);
    const [never] = await consumerLag(consumers.pool, consumers.store, { now: Date.parse(AT), lookAhead: 2 });
    expect(never).toMatchObject({ events: 0, atLeast: true });
  });

  it('reports a checkpoint beyond the end of the log, but not one that an append overtook', async () => {
    await append('a', 'b');
    await consumers.pool.query(
      `insert into event_sourcing.consumer (name, position, categories, status) values
         ('ahead', 300, '{tally}', 'halted'), ('at the end', 200, '{tally}', 'running')`,
    );
    expect(
      (await consumerLag(consumers.pool, consumers.store)).map(({ consumer, status }) => [consumer, status]),
    ).toEqual([
      ['ahead', 'beyond_the_log'],
      ['at the end', 'running'],
    ]);
    // A consumer that runs has handled what was appended after the head was read.
    const moving = {
      query: async (...asked: unknown[]) => {
        await append('c');
        return (consumers.pool.query as (...all: unknown[]) => unknown)(...asked);
      },
    } as unknown as pg.Pool;
    await consumers.pool.query(`update event_sourcing.consumer set position = 300, status = 'running'`);
    expect((await consumerLag(moving, consumers.store)).map(({ status }) => status)).toEqual([
      'running',
      'running',
    ]);
  });
});
