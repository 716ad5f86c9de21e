import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from './contracts/events.js';
import { publicationDecider } from './domain/publication/publication.decider.js';

/** Folded streams kept in memory, per process: the steps of one reading follow each other within a second. */
const CACHED_STREAMS = 256;

/** Executes commands on `publication-<readingId>` streams only. */
export const createPublicationExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [publicationEvents.category]),
    publicationEvents,
    publicationDecider,
    { cachedStreams: CACHED_STREAMS },
  );

export type PublicationExecutor = ReturnType<typeof createPublicationExecutor>;
export const PUBLICATION_EXECUTOR = Symbol('PublicationExecutor');
