import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StoredEvent } from '../core/event.js';
import { CHAIN_START, nextChain } from '../core/hash-chain.js';
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
import { CommandExecutor, appendWithRetry, type ExecutorOptions } from './command-executor.js';

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

/** The store, and the revisions that are read from it. */
const watchedReads = () => {
  const read: bigint[] = [];
  const watched = intercept(store, {
    async *read(stream, options) {
      for await (const event of store.read(stream, options)) {
        read.push(event.revision);
        yield event;
      }
    },
  });
  return { watched, read };
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

  it('neither rejects nor ignores a command on a state that a rival’s events have passed', async () => {
    const [here, elsewhere] = [
      executorOn(store, { cachedStreams: 10 }),
      executorOn(store, { cachedStreams: 10 }),
    ] as const;
    await add(here, 1, 'a');
    await add(elsewhere, -1, 'b');
    await add(here, 1, 'c');
    expect((await add(elsewhere, -1, 'd')).kind).toBe('accepted');
    expect((await add(here, -1, 'e')).kind).toBe('rejected');
    expect((await add(here, 1, 'd')).kind).toBe('ignored');
  });

  it('folds the stream again when the store was restored from a copy that is older than the state', async () => {
    let current = store;
    const moved = intercept(store, {
      append: (...asked) => current.append(...asked),
      read: (...asked) => current.read(...asked),
    });
    const executor = executorOn(moved, { cachedStreams: 10 });
    for (const ref of ['a', 'b', 'c']) await add(executor, 1, ref);
    current = new InMemoryEventStore();
    await add(executorOn(current), 1, 'a');
    expect((await add(executor, -2, 'd')).kind).toBe('rejected');
    expect((await add(executor, 1, 'b')).kind).toBe('accepted');
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

describe('a fresh stream', () => {
  const fresh = (executor: TallyExecutor, ref: string, at?: string) =>
    executor.execute('1', { type: 'add', by: 1, ref }, contextOf(ref, at), { fresh: true });

  it('that already exists is read, and decided on again', async () => {
    await add(executorOn(store), 1, 'a');
    expect(await fresh(executorOn(store), 'b')).toMatchObject({ kind: 'accepted', state: { total: 2 } });
    expect((await fresh(executorOn(store), 'a', '2026-02-02T00:00:00.000Z')).kind).toBe('ignored');
    expect(refsInLog()).toEqual(['a', 'b']);
  });

  it('recognises the same events as already written', async () => {
    await fresh(executorOn(store), 'a');
    expect(await fresh(executorOn(store), 'a')).toMatchObject({
      kind: 'accepted',
      events: [{ revision: 0n }],
    });
    expect(refsInLog()).toEqual(['a']);
  });
});

describe('with a checkpoint event', () => {
  it('loads backwards to it and no further', async () => {
    const writer = executorOn(store);
    await add(writer, 5, 'a');
    await writer.execute('1', { type: 'carry' }, contextOf('carry'));
    await add(writer, 2, 'b');
    const { watched, read } = watchedReads();
    const executor = executorOn(watched, { checkpoint: { type: 'Carried' } });
    expect(await executor.load('1')).toMatchObject({ state: { total: 7, refs: ['a', 'b'] }, revision: 2n });
    expect(read).toEqual([2n, 1n]);
    expect(await add(executor, 1, 'c')).toMatchObject({ kind: 'accepted', events: [{ revision: 3n }] });
  });

  describe('that is in parts', () => {
    /** The checkpoint has two parts, and says how their refs begin. */
    const checkpoint = {
      type: 'Carried',
      parts: {
        type: 'Added',
        countOf: () => 2,
        areThose: (event: TallyEvent, { refs }: Tally) =>
          event.type !== 'Carried' || (refs.length === 2 && refs.every((ref) => ref.startsWith('part'))),
      },
    };

    it('loads backwards to its first part and no further', async () => {
      const writer = executorOn(store);
      for (const ref of ['old', 'part1', 'part2']) await add(writer, 1, ref);
      await writer.execute('1', { type: 'carry' }, contextOf('carry'));
      const { watched, read } = watchedReads();
      const loaded = await executorOn(watched, { checkpoint }).load('1');
      expect(loaded.state.refs).toEqual(['old', 'part1', 'part2']);
      expect(read).toEqual([3n, 2n, 1n]);
    });

    it('passes over an event that is set aside between them', async () => {
      const writer = executorOn(store);
      for (const ref of ['part1', 'odd', 'part2']) await add(writer, 1, ref);
      await writer.execute('1', { type: 'carry' }, contextOf('carry'));
      const setAside = { consumers: null, by: '', reason: '', at: '' };
      Object.assign(store.log[1]!, { setAside });
      const loaded = await executorOn(store, { checkpoint }).load('1');
      expect(loaded.revision).toBe(3n);
    });

    it('is not loaded without its parts: the stream has to be looked at', async () => {
      const writer = executorOn(store);
      await add(writer, 1, 'part2');
      await writer.execute('1', { type: 'carry' }, contextOf('carry'));
      await expect(executorOn(store, { checkpoint }).load('1')).rejects.toThrow(
        /^tally-1@1 \(Carried\): the events before it are not the parts/,
      );
    });
  });
});

/** Computed only from stored events, as by an auditor. */
const expectedChain = (log: readonly StoredEvent[]): string[] => {
  let chain = CHAIN_START;
  return log.map(({ stream, revision, id, type, data, metadata: { schemaVersion, occurredAt } }) => {
    const facts = { stream, revision: String(revision), eventId: id, type, schemaVersion, occurredAt, data };
    return (chain = nextChain(chain, facts));
  });
};
const recordedChain = (log: readonly StoredEvent[]) => log.map(({ metadata }) => metadata.chain);

const chained = (events: EventStore, options: ExecutorOptions<TallyEvent, Tally> = {}) =>
  executorOn(events, { chained: true, ...options });

describe('a chained stream', () => {
  it('verifies over any history of any writers', async () => {
    const command: fc.Arbitrary<TallyCommand> = fc.oneof(
      fc.record({
        type: fc.constant('add' as const),
        by: fc.integer({ min: -5, max: 9 }),
        ref: fc.string({ maxLength: 2 }),
      }),
      fc.record({
        type: fc.constant('addEach' as const),
        // 0.5 does not match the schema, so the decision fails half-way.
        amounts: fc.array(fc.oneof(fc.nat(9), fc.constant(0.5)), { maxLength: 4 }),
        ref: fc.string({ maxLength: 2 }),
      }),
      fc.constant({ type: 'carry' as const }),
    );
    const step = fc.record({
      command,
      writer: fc.nat(2),
      waits: fc.boolean(),
      at: fc.date({ noInvalidDate: true }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
        store = new InMemoryEventStore();
        const writers = [
          chained(store, { cachedStreams: 10, batchSize: 4 }),
          chained(store, { cachedStreams: 10, checkpoint: { type: 'Carried' } }),
          chained(store, { checkpoint: { type: 'Carried' } }),
        ];
        const running: Promise<unknown>[] = [];
        for (const [index, one] of steps.entries()) {
          const at = new Date(Math.abs(one.at.getTime()) % 4e12).toISOString();
          running.push(
            writers[one.writer]!.execute('1', one.command, contextOf(`i${index}`, at)).catch(() => undefined),
          );
          if (one.waits) await Promise.all(running);
        }
        await Promise.all(running);
        expect(recordedChain(store.log)).toEqual(expectedChain(store.log));
      }),
      { numRuns: 25 },
    );
  });

  it('verifies when two processes execute the same intent concurrently, each with its own clock', async () => {
    const writers = [chained(store, { cachedStreams: 10 }), chained(store, { cachedStreams: 10 })] as const;
    for (const ref of ['a', 'b', 'c']) {
      await Promise.all(
        writers.map((writer, index) =>
          writer.execute('1', { type: 'add', by: 1, ref }, contextOf(ref, `2026-01-01T00:00:00.00${index}Z`)),
        ),
      );
    }
    expect(store.log).toHaveLength(3);
    expect(recordedChain(store.log)).toEqual(expectedChain(store.log));
  });
});

it('reads a long stream from its start once for all who ask at the same time, each of whom sees what came since', async () => {
  const [EVENTS, CALLERS] = [100, 60];
  const writer = executorOn(store);
  for (let at = 0; at < EVENTS; at += 1) await add(writer, 1, `${at}`);
  let read = 0;
  const slow = intercept(store, {
    async *read(stream, options) {
      for await (const event of store.read(stream, options)) {
        read += 1;
        // As of a store behind a network: others come meanwhile.
        await new Promise((resolve) => setImmediate(resolve));
        yield event;
      }
    },
  });
  for (const options of [{ cachedStreams: 2 }, {}]) {
    read = 0;
    const executor = executorOn(slow, options);
    const first = executor.load('1');
    await add(writer, 1, `late ${JSON.stringify(options)}`);
    const loaded = await Promise.all([first, ...Array.from({ length: CALLERS }, () => executor.load('1'))]);
    expect(read).toBeLessThan(2 * EVENTS);
    expect(loaded.slice(1).map((one) => one.revision)).toEqual(
      Array.from({ length: CALLERS }, () => BigInt(store.log.length - 1)),
    );
  }
});

const EVENTS = [addedToAppend('a', 'r')];
const CALLERS_TIME_MS = 300;

/** A store whose appends have an unknown outcome while `isAway` says so; it counts them. */
const unsteady = (isAway: (attempt: number) => boolean) => {
  const memory = new InMemoryEventStore();
  const count = { attempts: 0 };
  const store = intercept(memory, {
    append: async (...asked) => {
      count.attempts += 1;
      if (isAway(count.attempts)) throw new StoreUnavailable('no answer', true);
      return memory.append(...asked);
    },
  });
  return {
    store,
    memory,
    count,
    append: () => appendWithRetry(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS),
  };
};

describe('an append of unknown outcome', () => {
  it('is repeated until the store answers, and written once', async () => {
    const { append, memory, count } = unsteady((attempt) => attempt <= 3);
    expect(await append()).toMatchObject({ revision: 0n });
    expect(await append()).toMatchObject({ revision: 0n });
    expect(memory.log).toHaveLength(1);
    expect(count.attempts).toBe(5);
  });

  it('fails when the caller’s time is up; then each append is repeated once only, until the store answers', async () => {
    let away = true;
    const { append, count } = unsteady(() => away);
    const begunAt = performance.now();
    await expect(append()).rejects.toMatchObject({ name: 'StoreUnavailable', outcomeUnknown: true });
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(CALLERS_TIME_MS);
    expect(count.attempts).toBeGreaterThan(3);

    const before = count.attempts;
    await expect(append()).rejects.toThrow(StoreUnavailable);
    expect(count.attempts - before).toBe(2);

    away = false;
    await append();
    away = true;
    const since = count.attempts;
    await expect(append()).rejects.toThrow(StoreUnavailable);
    expect(count.attempts - since).toBeGreaterThan(3);
  });

  it('stays of unknown outcome while its repeats do not reach the store', async () => {
    const [unknown, unreached] = [true, false].map((outcome) => new StoreUnavailable('away', outcome));
    let [attempts, reachedAgainAt] = [0, 4];
    const memory = new InMemoryEventStore();
    const store = intercept(memory, {
      append: async (...asked) => {
        attempts += 1;
        if (attempts >= reachedAgainAt) return memory.append(...asked);
        throw attempts === 1 ? unknown! : unreached!;
      },
    });
    expect(await appendWithRetry(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS)).toMatchObject({
      revision: 0n,
    });

    [attempts, reachedAgainAt] = [0, Infinity];
    await expect(appendWithRetry(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS)).rejects.toBe(unknown);
    attempts = 1;
    await expect(appendWithRetry(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS)).rejects.toBe(unreached);
    expect(attempts).toBe(2);
  });

  it('is not repeated when another event stands there', async () => {
    const { append, memory, count } = unsteady((attempt) => attempt === 1);
    await memory.append('s', 'no_stream', [addedToAppend('other', 'r')]);
    await expect(append()).rejects.toThrow(WrongExpectedRevision);
    expect(count.attempts).toBe(2);
  });
});
