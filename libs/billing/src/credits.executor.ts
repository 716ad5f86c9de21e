import { CommandExecutor } from '#event-sourcing/handling/command-executor.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { scopedEventStore } from '#event-sourcing/store/scoped-event-store.js';
import { lastClose } from './audit/month-place.js';
import { creditsEvents } from './contracts/events.js';
import { namesParts } from './domain/credits/carried.js';
import { credits } from './domain/credits/credits.decider.js';

/** Folded books kept in memory, per process. */
const CACHED_STREAMS = 2_000;
/** All API processes write to the same book concurrently, so conflicts are common. */
const ATTEMPTS = 48;

/**
 * Runs commands on `credits-<workspaceId>` streams only.
 * @param withinMs CLOCK_REFUSE_MS: by this much, the clocks of two writers may differ
 */
export const createCreditsExecutor = (store: EventStore, withinMs: number) =>
  new CommandExecutor(scopedEventStore(store, [creditsEvents.category]), creditsEvents, credits, {
    cachedStreams: CACHED_STREAMS,
    attempts: ATTEMPTS,
    chained: true,
    actorFirst: true,
    checkpoint: {
      type: 'PeriodClosed',
      parts: {
        type: 'PeriodCarried',
        countOf: (event) => (event.type === 'PeriodClosed' ? (event.data.carried?.parts ?? 0) : 0),
        areThose: (event, book) => event.type !== 'PeriodClosed' || namesParts(event.data, book.carried),
      },
      locate: lastClose,
    },
    datesAscend: { withinMs },
  });

export type CreditsExecutor = ReturnType<typeof createCreditsExecutor>;
export const CREDITS_EXECUTOR = Symbol('CreditsExecutor');
