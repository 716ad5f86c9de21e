import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { publicationEvents } from './contracts/events.js';
import { publicationDecider } from './domain/publication/publication.decider.js';

/** Executes commands on `publication-<readingId>` streams only. */
export const createPublicationExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [publicationEvents.category]),
    publicationEvents,
    publicationDecider,
  );

export type PublicationExecutor = ReturnType<typeof createPublicationExecutor>;
export const PUBLICATION_EXECUTOR = Symbol('PublicationExecutor');
