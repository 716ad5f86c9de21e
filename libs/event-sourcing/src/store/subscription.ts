import {
  START,
  excludeSystemEvents,
  streamNameFilter,
  type AllStreamSubscription,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import { classify, noAnswer } from './classify.js';
import { settledSoon } from './connection.js';
import type { EventSubscription, SubscribeOptions } from './event-store.js';
import { toStored } from './events.js';

export interface OpenSubscription extends EventSubscription {
  /** Ends it with an error for its reader, because its connection is being replaced. */
  fail(error: Error): void;
}

/**
 * Subscriptions exclude the position they start from, so the checkpoint itself is the argument.
 * @param confirmWithinMs a subscription without confirmation by then fails, also while it waits for a free call
 */
export const openSubscription = (
  client: EventStoreDBClient,
  request: SubscribeOptions,
  confirmWithinMs: number,
): OpenSubscription => {
  const { after, categories, onCheckpoint } = request;
  const fromPosition = after === null ? START : { commit: after, prepare: after };
  const checkpointReached = (_: AllStreamSubscription, position: { commit: bigint }): void =>
    onCheckpoint?.(position.commit);
  const filter =
    categories.length === 0
      ? excludeSystemEvents({ checkpointInterval: 1, checkpointReached })
      : streamNameFilter({
          prefixes: categories.map((category) => `${category}-`),
          checkpointInterval: 1,
          checkpointReached,
        });
  const subscription = client.subscribeToAll({ fromPosition, filter });
  // The iterating reader gets the error too. An error before the iteration must not end the process.
  let failure: Error | undefined;
  subscription.on('error', (error) => (failure = error));
  const unconfirmed = setTimeout(
    () => fail(noAnswer('a subscription', confirmWithinMs, false)),
    confirmWithinMs,
  );
  subscription.once('confirmation', () => clearTimeout(unconfirmed));

  // Destroying it alone would leave the call open on the server. A call that has not started is cancelled when it does.
  const leave = (error?: Error): Promise<void> => {
    clearTimeout(unconfirmed);
    const left = subscription.unsubscribe();
    subscription.destroy(error);
    return left;
  };
  const fail = (error: Error): void => {
    leave(error).catch(() => undefined);
  };

  return {
    fail,
    async *[Symbol.asyncIterator]() {
      try {
        if (failure) throw failure;
        for await (const resolved of subscription) {
          const stored = toStored(resolved);
          if (stored) yield stored;
        }
      } catch (error) {
        throw classify(failure ?? error, false);
      }
    },
    close: () => settledSoon(leave()),
  };
};
