import { describe, expect, it } from '@jest/globals';
import type { Recorded } from '../core/event.js';
import type { Projection } from './projection.js';
import { sql } from './statement.js';
import { replayStream } from './replay-stream.js';
import { totals, rebuildsUnderTest } from './testing/rebuilds-under-test.js';

const rebuilds = rebuildsUnderTest();
const { append, goLive, liveCaughtUp, dump } = rebuilds;

describe('replaying one stream', () => {
  it('rebuilds its rows, and no others', async () => {
    await append('a', 'b', 'a');
    goLive();
    await liveCaughtUp();
    await rebuilds.pool.query('update total set sum = 40');
    expect(await replayStream(rebuilds.workshop, totals, 'tally-a')).toEqual({
      streams: ['tally-a'],
      events: 2,
    });
    expect(await dump('total')).toEqual(['(tally-a,2,1)', '(tally-b,40,0)']);
  });

  it('releases a parked stream once its events apply; the running view continues with it', async () => {
    const state = { mended: false };
    const mending: Projection = {
      ...totals,
      effects: ({ stream }) => (stream === 'tally-bad' && !state.mended ? [sql`select 1 / 0`] : []),
    };
    await append('bad', 'a', 'bad');
    goLive(mending);
    await liveCaughtUp();
    expect(await dump('total')).toEqual(['(tally-a,1,0)']);
    state.mended = true;
    await replayStream(rebuilds.workshop, mending, 'tally-bad');
    expect((await rebuilds.pool.query('select from event_sourcing.parked_stream')).rowCount).toBe(0);
    await append('bad');
    await liveCaughtUp();
    expect(await dump('total')).toEqual(['(tally-a,1,0)', '(tally-bad,3,2)']);
  });

  it('runs the effects that waited with the parked events, once and in order, and no others', async () => {
    const state = { mended: false };
    const effects = (event: Recorded) => [
      ...(event.stream === 'tally-bad' && event.revision === 1n && !state.mended ? [sql`select 1 / 0`] : []),
      ...(totals.effects?.(event) ?? []),
    ];
    const mending: Projection = { ...totals, effects };
    await append('bad', 'a', 'bad', 'bad');
    goLive(mending);
    await liveCaughtUp();
    const ids = rebuilds.store.log.map(({ id }) => id);
    const done = async () => (await dump('effect')).map((row) => row.slice(1, -1));
    expect(await done()).toEqual([ids[0], ids[1]]);
    await expect(replayStream(rebuilds.workshop, mending, 'tally-bad')).rejects.toThrow(/division by zero/);
    expect((await rebuilds.pool.query('select from event_sourcing.parked_stream')).rowCount).toBe(1);
    state.mended = true;
    await replayStream(rebuilds.workshop, mending, 'tally-bad');
    expect(await done()).toEqual([ids[0], ids[1], ids[2], ids[3]]);
    await replayStream(rebuilds.workshop, mending, 'tally-bad');
    expect(await done()).toHaveLength(4);
  });

  it('is refused for a stream that the projection does not follow, or that does not exist', async () => {
    await expect(replayStream(rebuilds.workshop, totals, 'reading-1')).rejects.toThrow(
      /follows tally streams/,
    );
    await expect(replayStream(rebuilds.workshop, totals, 'tally-nothing')).rejects.toThrow(
      /no stream tally-nothing/,
    );
  });
});
