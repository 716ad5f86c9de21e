import { START, excludeSystemEvents, streamNameFilter, type EventStoreDBClient } from '@eventstore/db-client';
import { classify, noAnswer } from './classify.js';
import { settledSoon } from './connection.js';
import { openDecodedRead } from './decoded-read.js';
import type { EventSubscription, SubscribeOptions } from './event-store.js';
import { decodeReadAnswer } from './read-answer.js';

export interface OpenSubscription extends EventSubscription {
  /** Ends it with an error for its reader, because its connection is being replaced. */
  fail(error: Error): void;
}

const CHECKPOINT_EVERY = 32;

/**
 * Subscriptions exclude the position they start from, so the checkpoint itself is the argument.
 * @param confirmWithinMs a subscription without confirmation by then fails, also while it waits for a free call
 */
export const openSubscription = (
  client: EventStoreDBClient,
  request: SubscribeOptions,
  confirmWithinMs: number,
): OpenSubscription => {
  const { after, categories, onCheckpoint, checkpointEvery = CHECKPOINT_EVERY } = request;
  const fromPosition = after === null ? START : { commit: after, prepare: after };
  // The server reports a checkpoint after each window.
  const window = { maxSearchWindow: checkpointEvery, checkpointInterval: 1 };
  const filter =
    categories.length === 0
      ? excludeSystemEvents(window)
      : streamNameFilter({ prefixes: categories.map((category) => `${category}-`), ...window });
  const unconfirmed = setTimeout(
    () => fail(noAnswer('a subscription', confirmWithinMs, false)),
    confirmWithinMs,
  );
  const subscription = openDecodedRead(client, (calls) => calls.subscribeToAll({ fromPosition, filter }), {
    decode: decodeReadAnswer,
    // The first answer is the confirmation.
    onAnswer: () => clearTimeout(unconfirmed),
  });
  // The iterating reader gets the error too. An error before the iteration must not end the process.
  let failure: Error | undefined;
  subscription.on('error', (error) => (failure = error));

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
        for await (const { event, checkpoint } of subscription) {
          // In the order of the log: no event before the checkpoint waits behind it.
          if (checkpoint !== undefined) onCheckpoint?.(checkpoint);
          if (event) yield event;
        }
      } catch (error) {
        throw classify(failure ?? error, false);
      }
    },
    close: () => settledSoon(leave()),
  };
};
