import { CommandExecutor } from '#event-sourcing/handling/command-executor.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { scopedEventStore } from '#event-sourcing/store/scoped-event-store.js';
import { correctionEvents } from './contracts/corrections.js';
import { orderLineEvents } from './contracts/order-lines.js';
import { correction } from './domain/correction/correction.decider.js';
import { orderLine } from './domain/order-line/order-line.decider.js';

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
