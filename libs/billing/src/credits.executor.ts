import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { creditsEvents } from './contracts/events.js';
import { credits } from './domain/credits/credits.decider.js';

/** Books kept folded in memory, per process. */
const CACHED_STREAMS = 2_000;
/** Every API process writes to a book at once: conflicts are common there. */
const ATTEMPTS = 48;

/** Runs commands on `credits-<workspaceId>` streams, and on no others. */
export const createCreditsExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [creditsEvents.category]), creditsEvents, credits, {
    cachedStreams: CACHED_STREAMS,
    attempts: ATTEMPTS,
    chained: true,
    actorFirst: true,
    checkpointType: 'PeriodClosed',
  });

export type CreditsExecutor = ReturnType<typeof createCreditsExecutor>;
export const CREDITS_EXECUTOR = Symbol('CreditsExecutor');
