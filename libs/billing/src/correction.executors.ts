import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { correctionDayEvents, correctionEvents } from './contracts/corrections.js';
import { operatorsEvents } from './contracts/operators.js';
import { orderLineEvents } from './contracts/order-lines.js';
import { correctionDay } from './domain/correction-day/correction-day.decider.js';
import { correction } from './domain/correction/correction.decider.js';
import { operators } from './domain/operators/operators.decider.js';
import { orderLine } from './domain/order-line/order-line.decider.js';
import { signedStreams } from './signed-streams.js';

/**
 * Run commands on the streams of operators, corrections, their days, and order lines. They are rare: no cache.
 * @param rootKeys OPERATOR_ROOT_KEYS
 */
export const createCorrectionExecutors = (store: EventStore, rootKeys: readonly string[]) => {
  const signed = signedStreams(store, rootKeys);
  return {
    operators: new CommandExecutor(signed, operatorsEvents, operators),
    correction: new CommandExecutor(signed, correctionEvents, correction),
    day: new CommandExecutor(signed, correctionDayEvents, correctionDay),
    orderLine: new CommandExecutor(
      scopedEventStore(store, [orderLineEvents.category]),
      orderLineEvents,
      orderLine,
    ),
  };
};

export type CorrectionExecutors = ReturnType<typeof createCorrectionExecutors>;
export const CORRECTION_EXECUTORS = Symbol('CorrectionExecutors');
