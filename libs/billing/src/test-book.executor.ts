import { CommandExecutor } from '#event-sourcing/handling/command-executor.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { scopedEventStore } from '#event-sourcing/store/scoped-event-store.js';
import { testBookEvents } from './contracts/test-book.js';
import { testBook } from './domain/test-book/test-book.decider.js';

/** Folded books kept in memory, per process. */
const CACHED_STREAMS = 500;
/** All API processes write to the same book concurrently, so conflicts are common. */
const ATTEMPTS = 48;

/**
 * Runs commands on `testbook-<workspaceId>` streams only.
 * @param withinMs CLOCK_REFUSE_MS: by this much, the clocks of two writers may differ
 */
export const createTestBookExecutor = (store: EventStore, withinMs: number) =>
  new CommandExecutor(scopedEventStore(store, [testBookEvents.category]), testBookEvents, testBook, {
    cachedStreams: CACHED_STREAMS,
    attempts: ATTEMPTS,
    chained: true,
    checkpoint: { type: 'TestBookFilled' },
    datesAscend: { withinMs },
  });

export type TestBookExecutor = ReturnType<typeof createTestBookExecutor>;
export const TEST_BOOK_EXECUTOR = Symbol('TestBookExecutor');
