import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { batchEvents, readingEvents } from './contracts/events.js';
import { batchDecider } from './domain/batch.decider.js';
import { readingDecider } from './domain/reading.decider.js';

/** Folded streams kept in memory, per process: the steps of one reading follow each other within a second. */
const CACHED_STREAMS = 256;

/** Runs commands on `reading-<id>` streams, and on no others. */
export const createReadingExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [readingEvents.category]), readingEvents, readingDecider, {
    cachedStreams: CACHED_STREAMS,
  });

export type ReadingExecutor = ReturnType<typeof createReadingExecutor>;
export const READING_EXECUTOR = Symbol('ReadingExecutor');

/** Runs commands on `batch-<id>` streams, and on no others. */
export const createBatchExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [batchEvents.category]), batchEvents, batchDecider);

export type BatchExecutor = ReturnType<typeof createBatchExecutor>;
export const BATCH_EXECUTOR = Symbol('BatchExecutor');
