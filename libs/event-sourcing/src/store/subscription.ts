import { excludeSystemEvents, START, streamNameFilter, type Filter } from '@eventstore/db-client';
import { classify, noAnswer } from './errors.js';
import type { EventSubscription, SubscribeOptions } from './event-store.js';
import { storedEvent } from './read-stream.js';
import { settledSoon, type StoreClient } from './store-client.js';

export interface OpenSubscription extends EventSubscription {
  /** Ends it with an error for its reader, because its connection is being replaced. */
  fail(error: Error): void;
}

const CHECKPOINT_EVERY = 32;

/**
 * Subscriptions exclude the position they start from, so the checkpoint itself is the argument.
 * @param located resolves when the client is that of the leader
 * @param confirmWithinMs a subscription without confirmation by then fails, also while it waits for a free call
 */
export const openSubscription = (
  located: Promise<StoreClient>,
  { after, categories, onCheckpoint, checkpointEvery = CHECKPOINT_EVERY }: SubscribeOptions,
  confirmWithinMs: number,
): OpenSubscription => {
  /** Events that the reader has dealt with, and that it has got. */
  let [handled, taken] = [0, 0];
  /** Each holds for the events before it, of which some may still wait for the reader. */
  const checkpoints: { readonly position: bigint; readonly behind: number }[] = [];
  const report = (): void => {
    while (checkpoints[0] && checkpoints[0].behind <= handled) {
      const { position } = checkpoints.shift()!;
      onCheckpoint?.(position);
    }
  };
  const start = (client: StoreClient) => {
    const stream = client.subscribeToAll({
      fromPosition: after === null ? START : { commit: after, prepare: after },
      filter: filterOf(categories, checkpointEvery, (subscription, { commit }) => {
        // By then the reader has counted an event that has left the stream in this turn of the event loop.
        setImmediate(() => {
          checkpoints.push({ position: commit, behind: taken + subscription.readableLength });
          if (!subscription.destroyed) report();
        });
      }),
    });
    return stream
      .on('confirmation', () => clearTimeout(unconfirmed))
      .on('error', (error) => void stream.destroy(error));
  };
  let failure: Error | undefined;
  const unconfirmed = setTimeout(
    () => fail(noAnswer('a subscription', confirmWithinMs, false)),
    confirmWithinMs,
  );
  const opened = located.then(start);
  opened.catch(() => clearTimeout(unconfirmed));
  /** Destroying the stream alone would leave the call open as long as the server has more to send. */
  const leave = async (error?: Error): Promise<void> => {
    clearTimeout(unconfirmed);
    const stream = await opened;
    stream.destroy(error);
    await stream.unsubscribe();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    leave(error).catch(() => undefined);
  };

  return {
    fail,
    async *[Symbol.asyncIterator]() {
      try {
        if (failure) throw failure;
        for await (const answer of await opened) {
          taken += 1;
          yield storedEvent(answer);
          handled = taken;
          report();
        }
      } catch (error) {
        throw classify(failure ?? error, false);
      }
    },
    close: () => settledSoon(leave()),
  };
};

/** Without categories: all streams but the system's. */
const filterOf = (
  categories: readonly string[],
  maxSearchWindow: number,
  checkpointReached: NonNullable<Filter['checkpointReached']>,
): Filter => {
  const options = { maxSearchWindow, checkpointInterval: 1, checkpointReached };
  return categories.length === 0
    ? excludeSystemEvents(options)
    : streamNameFilter({ ...options, prefixes: categories.map((category) => `${category}-`) });
};
