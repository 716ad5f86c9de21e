import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { bookletEvents } from './contracts/events.js';
import { bookletDecider } from './domain/booklet/booklet.decider.js';

/** Executes commands on `booklet-<workspaceId>` streams only. */
export const createBookletExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [bookletEvents.category]), bookletEvents, bookletDecider);

export type BookletExecutor = ReturnType<typeof createBookletExecutor>;
export const BOOKLET_EXECUTOR = Symbol('BookletExecutor');
