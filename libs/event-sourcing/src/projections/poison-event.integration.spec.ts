import { describe, expect, it } from '@jest/globals';
import { categoryOf } from '../core/stream-name.js';
import { CorruptEvent } from '../core/event-catalogue.js';
import { StoreDamaged } from '../store/errors.js';
import { addedToAppend } from '../testing/tally.js';
import type { Consumer } from './consumer.js';
import { consumersUnderTest, recording, uuid, type RunningConsumer } from './testing/consumers-under-test.js';
import { parkedStreams } from './parked-streams.js';

const sqlState = (code: string) => Object.assign(new Error('no'), { severity: 'ERROR', code });
const consumers = consumersUnderTest();
const { start, eventually, append, checkpoint, caughtUp, appliedIds, logIds } = consumers;

const parked = async (name: string) =>
  (await parkedStreams(consumers.pool, name)).map(({ stream, revision, error }) => [
    `${stream}@${revision}`,
    error,
  ]);
const nothingParked = (name: string) => eventually(async () => (await parked(name)).length === 0);

describe('an event that cannot be handled', () => {
  it('is tried again by itself; then the stream is handled from there, in order, once', async () => {
    const state = { mended: false };
    await append('bad', 'a', ...Array.from({ length: 230 }, () => 'bad'), 'a');
    start(poisonedRecording(state), { retryParkedMs: 1 });
    await caughtUp(recording.name);
    state.mended = true;
    await nothingParked(recording.name);
    await append('bad', 'a');
    await caughtUp(recording.name);
    const ids = logIds();
    const ofBad = consumers.store.log.filter(({ stream }) => stream === 'tally-bad').map(({ id }) => id);
    const applied = await appliedIds();
    expect(applied.toSorted()).toEqual(ids.toSorted());
    expect(applied.filter((id) => ofBad.includes(id))).toEqual(ofBad);
  });

  it('parks with it the other streams of its id, whose events change the same rows', async () => {
    const seen: string[] = [];
    const state = { mended: false };
    const joining: Consumer = {
      ...recording,
      categories: ['tally', 'other'],
      steps: (events) => {
        if (!state.mended && events.some(({ stream }) => stream === 'tally-x')) throw new RangeError('no');
        return [];
      },
      dispatch: async (events) => void seen.push(...events.map(({ stream }) => stream)),
    };
    await append('x', 'y');
    await consumers.store.append('other-x', 'no_stream', [addedToAppend(uuid(800_001), 'o')]);
    await append('x');
    start(joining, { retryParkedMs: 1 });
    await caughtUp(recording.name);
    expect((await parked(recording.name)).map(([place]) => place)).toEqual(['tally-x@0', 'other-x@0']);
    seen.length = 0;
    state.mended = true;
    await nothingParked(recording.name);
    expect(seen).toEqual(['tally-x', 'other-x', 'tally-x']);
  });

  it('halts the consumer as a whole when too many other events keep streams parked', async () => {
    const state = { mended: false };
    await append('bad1', 'bad2', 'a', 'bad3', 'b');
    const failing: Consumer = {
      ...recording,
      steps: (events) => {
        if (!state.mended && events.some(({ stream }) => stream.includes('bad'))) throw new RangeError('no');
        return recording.steps(events);
      },
    };
    start(failing, { mostParked: 2, retryParkedMs: 1 });
    await eventually(async () => (await checkpoint(failing.name))?.status === 'halted');
    expect(await checkpoint(failing.name)).toMatchObject({
      position: '300',
      error: 'tally-bad3@0 Added: RangeError: no; 2 events keep streams parked already',
    });
    state.mended = true;
    await caughtUp(failing.name);
    await nothingParked(failing.name);
    expect((await appliedIds()).toSorted()).toEqual(logIds().toSorted());
  });

  it('counts once, however many streams wait for it', async () => {
    const unreadable: Consumer = {
      ...recording,
      dispatch: async (events) => {
        if (events.some(({ stream }) => stream.includes('bad')))
          throw new CorruptEvent({ stream: 'book-1', revision: 7n, type: 'Odd' }, 'not known');
      },
    };
    await append('bad1', 'bad2', 'bad3', 'a');
    start(unreadable, { mostParked: 1 });
    await caughtUp(recording.name);
    expect((await parkedStreams(consumers.pool, recording.name)).map(({ cause }) => cause)).toEqual(
      Array.from({ length: 3 }, () => ({ stream: 'book-1', revision: 7n })),
    );
  });

  it.each([
    ['a table is missing', sqlState('42P01'), 'running'],
    ['a function is missing', sqlState('42883'), 'halted'],
    ['the database is away', sqlState('57P01'), 'running'],
    ['a statement took too long', sqlState('57014'), 'running'],
    ['the event store is damaged', new StoreDamaged('record 7 is damaged'), 'halted'],
    ['a right was withdrawn', Object.assign(new Error('Access Denied'), { type: 'access-denied' }), 'halted'],
  ])('parks nothing when %s', async (_, error, status) => {
    const state = { mended: false };
    const failing: Consumer = {
      ...recording,
      dispatch: async () => {
        if (!state.mended) throw error;
      },
    };
    await append('a', 'b');
    start(failing, { poisonAttempts: 1 });
    await eventually(async () => consumers.logged.length > 0);
    expect(await checkpoint(failing.name)).toMatchObject({ position: null, status });
    expect(await parked(failing.name)).toEqual([]);
    state.mended = true;
    await caughtUp(failing.name);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('stops nothing once another worker has handled it, and the one that could not goes on behind it', async () => {
    let newer: RunningConsumer | undefined;
    let failed = 0;
    const older: Consumer = {
      ...recording,
      async dispatch(events) {
        if (events.every(({ stream }) => stream !== 'tally-new')) return;
        newer ??= start(recording);
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
    expect(await parked(recording.name)).toEqual([]);
    await newer!.stop();
    await append('c');
    await caughtUp(recording.name);
    expect(await appliedIds()).toEqual(logIds());
    // With several workers, that is normal.
    expect(consumers.logged).toEqual([]);
  });
});

/** Records what it handles, and fails for `tally-bad` until it is mended. */
const poisonedRecording = (state: { mended: boolean }): Consumer => ({
  ...recording,
  steps: (events) => {
    if (!state.mended && events.some(({ stream }) => stream === 'tally-bad')) throw new RangeError('no');
    return recording.steps(events.filter(({ stream }) => categoryOf(stream) === 'tally'));
  },
});
