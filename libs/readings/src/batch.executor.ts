import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { batchEvents } from './contracts/events.js';
import { batchDecider } from './domain/batch/batch.decider.js';

/** Runs commands on `batch-<id>` streams, and on no others. */
export const createBatchExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [batchEvents.category]), batchEvents, batchDecider);

export type BatchExecutor = ReturnType<typeof createBatchExecutor>;
export const BATCH_EXECUTOR = Symbol('BatchExecutor');
