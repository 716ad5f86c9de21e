import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { readingEvents } from './contracts/events.js';
import { readingDecider } from './domain/reading/reading.decider.js';

/** Runs commands on `reading-<id>` streams, and on no others. */
export const createReadingExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [readingEvents.category]), readingEvents, readingDecider);

export type ReadingExecutor = ReturnType<typeof createReadingExecutor>;
export const READING_EXECUTOR = Symbol('ReadingExecutor');
