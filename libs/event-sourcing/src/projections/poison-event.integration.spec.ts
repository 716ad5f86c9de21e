import { describe, expect, it } from '@jest/globals';
import type { Consumer } from './consumer.js';
import { parkedStreams } from './handle-batch.js';
import { sql } from './statement.js';
import {
  consumersUnderTest,
  recording,
  summing,
  type RunningConsumer,
} from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();
const { start, eventually, append, checkpoint, caughtUp, totals, appliedIds, logIds } = consumers;

describe('an event that cannot be applied', () => {
  const poisoned = (state: { mended: boolean }) =>
    summing((stream) => (stream === 'tally-bad' && !state.mended ? [sql`select 1 / 0`] : []));

  it('is parked by a view, with its successors, while every other stream goes on', async () => {
    await append('a', 'bad', 'b', 'bad', 'a');
    start(poisoned({ mended: false }));
    await caughtUp('tally.total.v1');
    await append('bad', 'a');
    await caughtUp('tally.total.v1');
    expect(await totals()).toEqual({ a: 3, b: 1 });
    const { rows } = await consumers.pool.query<Record<string, string>>(
      'select position, stream, event_id, event_type from event_sourcing.parked_event order by position',
    );
    expect(rows).toEqual(
      consumers.store.log
        .filter(({ stream }) => stream === 'tally-bad')
        .map(({ position, stream, id, type }) => ({
          position: String(position),
          stream,
          event_id: id,
          event_type: type,
        })),
    );
    expect(rows).toHaveLength(3);
    expect(consumers.logged.filter(({ message }) => /poison/.test(message))).toHaveLength(1);
  });

  it('stays parked after a restart: its successors are not applied without it', async () => {
    await append('bad');
    const state = { mended: false };
    const first = start(poisoned(state));
    await caughtUp('tally.total.v1');
    await first.stop();
    state.mended = true;
    await append('bad', 'a');
    start(poisoned(state));
    await caughtUp('tally.total.v1');
    expect(await totals()).toEqual({ a: 1 });
  });

  it('halts a consumer that may skip nothing, until it can be handled', async () => {
    const state = { mended: false };
    const halting: Consumer = { ...poisoned(state), onPoison: 'halt' };
    await append('a', 'bad', 'b');
    start(halting);
    await eventually(async () => (await checkpoint(halting.name))?.status === 'halted');
    expect(await checkpoint(halting.name)).toMatchObject({
      position: '100',
      error: expect.stringMatching(/^tally-bad@0 Added: SQLSTATE 22012$/),
    });
    expect(await totals()).toEqual({ a: 1 });
    state.mended = true;
    await caughtUp(halting.name);
    expect(await totals()).toEqual({ a: 1, b: 1, bad: 1 });
    expect(await checkpoint(halting.name)).toMatchObject({ status: 'running', error: null });
  });

  it.each(['halt', 'park'] as const)(
    'stops nothing (%s) once another worker has handled it, and the one that could not goes on behind it',
    async (onPoison) => {
      let newer: RunningConsumer | undefined;
      let failed = 0;
      const older: Consumer = {
        ...recording,
        onPoison,
        async dispatch(events) {
          if (events.every(({ stream }) => stream !== 'tally-new')) return;
          newer ??= start({ ...recording, onPoison });
          if (failed === 0) await caughtUp(recording.name);
          failed += 1;
          throw new RangeError('unknown to the older program');
        },
      };
      await append('a', 'new', 'b');
      start(older, { batchSize: 1 });
      await eventually(() => Promise.resolve(failed >= 2));
      await caughtUp(recording.name);
      expect(await checkpoint(recording.name)).toMatchObject({ status: 'running', error: null });
      expect(await parkedStreams(consumers.pool, older)).toEqual(new Set());
      await newer!.stop();
      await append('c');
      await caughtUp(recording.name);
      expect(await appliedIds()).toEqual(logIds());
      // With several workers, that is normal.
      expect(consumers.logged).toEqual([]);
    },
  );
});
