import { type Decider, accept, ignore, reject, type Rejection } from '#event-sourcing/core/decider.js';
import { type OrderLineEvent, creditsEvents, testBookEvents, orderLineEvents } from './contracts/events.js';
import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { namesParts } from './domain/carried.js';
import { credits } from './domain/credits.decider.js';
import { testCredits } from './domain/test-credits.js';
import { correctionEvents } from './contracts/corrections.js';
import { correction } from './domain/correction.js';

/** Whose line it is; `null`: nobody has claimed it. */
type OrderLine = OrderLineEvent['data'] | null;

export type OrderLineRejection = Rejection<'ClaimedByOther', OrderLineEvent['data']>;

/** A line belongs to one workspace, for good: the first that claims it. */
export const orderLine: Decider<OrderLineEvent, OrderLineEvent, OrderLine, OrderLineRejection> = {
  initialState: null,
  decide: (event, claim) => {
    if (!claim) return accept(event);
    return claim.workspaceId === event.data.workspaceId
      ? ignore('AlreadyClaimed')
      : reject('ClaimedByOther', claim);
  },
  evolve: (_, { data }) => data,
};

/** Folded books kept in memory, per process. */
const CACHED_STREAMS = 2_000;
/** All API processes write to the same book concurrently, so conflicts are common. */
const ATTEMPTS = 48;

/**
 * Runs commands on `credits-<workspaceId>` streams only.
 * @param withinMs CLOCK_REFUSE_MS: by this much, the clocks of two writers may differ
 */
export const createCreditsExecutor = (
  store: EventStore,
  withinMs: number,
  [catalogue, decider]: readonly [typeof creditsEvents, typeof credits] = [creditsEvents, credits],
) =>
  new CommandExecutor(scopedEventStore(store, [catalogue.category]), catalogue, decider, {
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
    },
    datesAscend: { withinMs },
  });

/** Runs commands on `testbook-<workspaceId>` streams only. */
export const createTestBookExecutor = (store: EventStore, withinMs: number) =>
  createCreditsExecutor(store, withinMs, [testBookEvents, testCredits]);

export type CreditsExecutor = ReturnType<typeof createCreditsExecutor>;
export const CREDITS_EXECUTOR = Symbol('CreditsExecutor');
export const TEST_BOOK_EXECUTOR = Symbol('TestBookExecutor');

/** Run commands on the streams of corrections and order lines. They are rare: no cache. */
export const createCorrectionExecutors = (store: EventStore) => ({
  correction: new CommandExecutor(
    scopedEventStore(store, [correctionEvents.category]),
    correctionEvents,
    correction,
  ),
  orderLine: new CommandExecutor(
    scopedEventStore(store, [orderLineEvents.category]),
    orderLineEvents,
    orderLine,
  ),
});

export type CorrectionExecutors = ReturnType<typeof createCorrectionExecutors>;
export const CORRECTION_EXECUTORS = Symbol('CorrectionExecutors');
