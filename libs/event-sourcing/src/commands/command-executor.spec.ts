import { beforeEach, describe, expect, it } from '@jest/globals';
import { WrongExpectedRevision, StoreUnavailable } from '../store/errors.js';
import { intercept, type EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import {
  METADATA,
  addedToAppend,
  contextOf,
  tally,
  tallyEvents,
  type Tally,
  type TallyCommand,
  type TallyEvent,
} from '../testing/tally.js';
import { CommandExecutor, type ExecutorOptions } from './command-executor.js';

let store: InMemoryEventStore;
beforeEach(() => {
  store = new InMemoryEventStore();
});

const executorOn = (events: EventStore, options?: ExecutorOptions<TallyEvent, Tally>) =>
  new CommandExecutor(events, tallyEvents, tally, options);
type TallyExecutor = ReturnType<typeof executorOn>;

const add = (executor: TallyExecutor, by: number, ref: string) =>
  executor.execute('1', { type: 'add', by, ref }, contextOf(ref));

const refsInLog = (): string[] => store.log.map(({ data }) => (data as { ref?: string }).ref ?? 'none');

const countingAppends = () => {
  const sizes: number[] = [];
  const counted = intercept(store, {
    append: (stream, expected, events) => {
      sizes.push(events.length);
      return store.append(stream, expected, events);
    },
  });
  return { counted, sizes };
};

describe('CommandExecutor', () => {
  it('appends accepted events, and returns their places and the new state', async () => {
    await add(executorOn(store), 2, 'a');
    const outcome = await add(executorOn(store), 3, 'b');
    expect(outcome).toMatchObject({
      kind: 'accepted',
      state: { total: 5, refs: ['a', 'b'] },
      events: [{ type: 'Added', data: { by: 3, ref: 'b' }, stream: 'tally-1', revision: 1n, position: 200n }],
    });
    expect(store.log[1]).toMatchObject({
      type: 'Added',
      data: { by: 3, ref: 'b' },
      metadata: METADATA,
    });
  });

  it('appends all events of one decision, each at its own revision', async () => {
    await add(executorOn(store), 1, 'a');
    const command: TallyCommand = { type: 'addEach', amounts: [1, 2, 3], ref: 'b' };
    const outcome = await executorOn(store).execute('1', command, contextOf('b'));
    expect(outcome.kind === 'accepted' && outcome.events.map(({ revision }) => revision)).toEqual([
      1n,
      2n,
      3n,
    ]);
    expect(store.log.map(({ revision, id }) => [revision, id])).toEqual([
      [0n, store.log[0]!.id],
      ...(outcome.kind === 'accepted' ? outcome.events.map(({ revision, id }) => [revision, id]) : []),
    ]);
    expect(new Set(store.log.map(({ id }) => id)).size).toBe(4);
  });

  it('returns the state of an ignored or rejected command, and appends nothing', async () => {
    const executor = executorOn(store);
    await add(executor, 2, 'a');
    expect(await add(executor, 2, 'a')).toEqual({
      kind: 'ignored',
      reason: 'AlreadyAdded',
      state: { total: 2, refs: ['a'] },
    });
    expect(await add(executor, -3, 'b')).toEqual({
      kind: 'rejected',
      code: 'TooLow',
      details: { total: 2 },
      state: { total: 2, refs: ['a'] },
    });
    expect(refsInLog()).toEqual(['a']);
  });

  it('batches waiting commands of one stream into few appends, and gives each its own outcome', async () => {
    const { counted, sizes } = countingAppends();
    const executor = executorOn(counted, { batchSize: 64 });
    const amounts = Array.from({ length: 200 }, (_, index) => (index % 10 === 9 ? -1_000 : 1));
    const outcomes = await Promise.all(amounts.map((by, index) => add(executor, by, `r${index}`)));
    expect(sizes.length).toBeLessThanOrEqual(5);
    expect(outcomes.map(({ kind }) => kind)).toEqual(amounts.map((by) => (by < 0 ? 'rejected' : 'accepted')));
    // In the order of the calls, each on the state after the previous one.
    expect(outcomes.slice(0, 3).map(({ state }) => state.total)).toEqual([1, 2, 3]);
    expect(outcomes.at(-1)!.state.total).toBe(180);
    expect(refsInLog()).toHaveLength(180);
  });

  it('appends no more at once than the event store takes, and carries out the other commands after it', async () => {
    const { counted, sizes } = countingAppends();
    const executor = executorOn(counted);
    const long = 'x'.repeat(300_000);
    const refs = ['a', 'b', 'c', 'd'].map((name) => `${name}${long}`);
    const outcomes = await Promise.all(
      refs.map((ref) => executor.execute('1', { type: 'add', by: 1, ref }, contextOf(ref.slice(0, 1)))),
    );
    expect(outcomes.map(({ state }) => state.total)).toEqual([1, 2, 3, 4]);
    expect(sizes).toEqual([3, 1]);
    expect(refsInLog()).toEqual(refs);
  });

  it.each([0, 10])(
    'loses no decision to a second executor on the same stream (%i cached streams)',
    async (cachedStreams) => {
      const rivals = [
        executorOn(store, { cachedStreams, batchSize: 3 }),
        executorOn(store, { cachedStreams, batchSize: 2 }),
      ];
      const refs = Array.from({ length: 40 }, (_, index) => `r${index}`);
      const outcomes = await Promise.all(refs.map((ref, index) => add(rivals[index % 2]!, 1, ref)));
      expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true);
      expect(refsInLog().toSorted()).toEqual(refs.toSorted());
      expect((await rivals[0]!.load('1')).state.total).toBe(40);
      // After all conflicts both have the same state: the next event of one builds on the other's.
      await add(rivals[0]!, 1, 'next');
      expect((await add(rivals[1]!, 1, 'last')).state).toMatchObject({ total: 42 });
    },
  );

  it('decides again on the rival’s events, so that two cannot spend the same credit', async () => {
    const rivals = [
      executorOn(store, { cachedStreams: 10 }),
      executorOn(store, { cachedStreams: 10 }),
    ] as const;
    await add(rivals[0], 1, 'grant');
    await rivals[1].execute('1', { type: 'add', by: 0, ref: 'look' }, contextOf('look'));
    const outcomes = await Promise.all([add(rivals[0], -1, 'x'), add(rivals[1], -1, 'y')]);
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'rejected']);
  });

  describe('when a decision fails', () => {
    it('fails only its own caller', async () => {
      const executor = executorOn(store);
      const results = await Promise.allSettled([
        add(executor, 1, 'first'),
        add(executor, 1, 'a'),
        executor.execute('1', { type: 'explode' }, contextOf('x')),
        add(executor, 1, 'b'),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(results[2]).toMatchObject({ reason: expect.any(RangeError) });
      expect(refsInLog()).toEqual(['first', 'a', 'b']);
    });

    it('leaves no trace of its first half', async () => {
      const executor = executorOn(store, { cachedStreams: 10 });
      const results = await Promise.allSettled([
        add(executor, 1, 'first'),
        // The second amount does not match the schema, after the first was folded.
        executor.execute('1', { type: 'addEach', amounts: [5, 0.5], ref: 'bad' }, contextOf('bad')),
        add(executor, 1, 'b'),
      ]);
      expect(results[1]).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
      expect(results[2]).toMatchObject({ value: { state: { total: 2, refs: ['first', 'b'] } } });
      expect((await add(executor, 1, 'c')).state.total).toBe(3);
    });
  });

  describe('when the store fails', () => {
    it('rejects every waiting command as unavailable, and executes the next', async () => {
      let away = true;
      const unsteady = intercept(store, {
        append: async (stream, expected, events) => {
          if (away) throw new StoreUnavailable('away', false);
          return store.append(stream, expected, events);
        },
      });
      const executor = executorOn(unsteady, { cachedStreams: 10 });
      const results = await Promise.allSettled([
        add(executor, 1, 'a'),
        add(executor, 1, 'b'),
        add(executor, 1, 'c'),
      ]);
      expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: expect.any(StoreUnavailable) }));
      away = false;
      expect(await add(executor, 1, 'd')).toMatchObject({
        kind: 'accepted',
        state: { total: 1, refs: ['d'] },
      });
    });

    it('gives up as unavailable when every attempt meets a conflict', async () => {
      let appends = 0;
      const busy = intercept(store, {
        append: async (stream, expected) => {
          appends += 1;
          const { revision } = await store.append(stream, expected, [addedToAppend(`rival${appends}`, 'r')]);
          throw new WrongExpectedRevision(stream, expected, revision);
        },
      });
      await expect(add(executorOn(busy, { attempts: 3 }), 1, 'a')).rejects.toMatchObject({
        name: 'StoreUnavailable',
        outcomeUnknown: false,
      });
      expect(appends).toBe(3);
    });
  });
});
