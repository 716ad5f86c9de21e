import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CHAIN_START, nextChain } from '../core/hash-chain.js';
import type { StoredEvent } from '../core/event.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import {
  contextOf,
  tally,
  tallyEvents,
  type Tally,
  type TallyCommand,
  type TallyEvent,
} from '../testing/tally.js';
import { CommandExecutor, type ExecutorOptions } from './command-executor.js';

/** Computed only from stored events, as by an auditor. */
const expectedChain = (log: readonly StoredEvent[]): string[] => {
  let chain = CHAIN_START;
  return log.map(({ stream, revision, id, type, data, metadata: { schemaVersion, occurredAt } }) => {
    const facts = { stream, revision: String(revision), eventId: id, type, schemaVersion, occurredAt, data };
    return (chain = nextChain(chain, facts));
  });
};
const recordedChain = (log: readonly StoredEvent[]) => log.map(({ metadata }) => metadata.chain);

const chained = (store: InMemoryEventStore, options: ExecutorOptions<TallyEvent, Tally> = {}) =>
  new CommandExecutor(store, tallyEvents, tally, { chained: true, ...options });

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
        const store = new InMemoryEventStore();
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
    const store = new InMemoryEventStore();
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
