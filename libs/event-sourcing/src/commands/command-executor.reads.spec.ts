import { beforeEach, describe, expect, it } from '@jest/globals';
import { intercept, type EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { contextOf, tally, tallyEvents, type Tally, type TallyEvent } from '../testing/tally.js';
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

const refsInLog = (): string[] => store.log.map(({ data }) => (data as { ref?: string }).ref ?? 'none');

describe('What CommandExecutor reads', () => {
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

    it('loads the whole stream without one', async () => {
      await add(executorOn(store), 5, 'a');
      await add(executorOn(store), 2, 'b');
      const loaded = await executorOn(store, { checkpoint: { type: 'Carried' } }).load('1');
      expect(loaded).toMatchObject({ state: { total: 7, refs: ['a', 'b'] }, revision: 1n });
    });
  });
});
