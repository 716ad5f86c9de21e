import { classify, noAnswer } from './classify.js';
import type { StoreClient } from './clients/client.js';
import { settledSoon } from './connection.js';
import type { EventSubscription, SubscribeOptions } from './event-store.js';
import { decodeReadAnswer, type ReadAnswer } from './read-answer.js';
import { openReadCall } from './read-call.js';
import type { ReadFilter } from './read-request.js';

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
  client: StoreClient,
  { after, categories, onCheckpoint, checkpointEvery = CHECKPOINT_EVERY }: SubscribeOptions,
  confirmWithinMs: number,
): OpenSubscription => {
  let failure: Error | undefined;
  const unconfirmed = setTimeout(
    () => fail(noAnswer('a subscription', confirmWithinMs, false)),
    confirmWithinMs,
  );
  const request = {
    stream: null,
    from: after ?? 'start',
    count: 'subscription',
    filter: { ...filterOf(categories), searchWindow: checkpointEvery },
  } as const;
  const call = openReadCall(client, request, {
    requiresLeader: false,
    decode: (message) => {
      // The first answer is the confirmation.
      clearTimeout(unconfirmed);
      return decodeReadAnswer(message);
    },
  });
  // Asks for the first answer before anybody reads.
  call.stream.then(
    (stream) => void stream.read(0),
    () => clearTimeout(unconfirmed),
  );
  const fail = (error: Error): void => {
    failure ??= error;
    clearTimeout(unconfirmed);
    call.stream.then(
      (stream) => void stream.destroy(error),
      () => undefined,
    );
    void call.cancel();
  };

  return {
    fail,
    async *[Symbol.asyncIterator]() {
      try {
        if (failure) throw failure;
        // The type of a call's stream does not say what it yields.
        const answers = (await call.stream) as AsyncIterable<ReadAnswer>;
        for await (const { event, checkpoint } of answers) {
          // In the order of the log: no event before the checkpoint waits behind it.
          if (checkpoint !== undefined) onCheckpoint?.(checkpoint);
          if (event) yield event;
        }
      } catch (error) {
        throw classify(failure ?? error, false);
      }
    },
    close: () => {
      clearTimeout(unconfirmed);
      call.stream.then(
        (stream) => void stream.destroy(),
        () => undefined,
      );
      return settledSoon(call.cancel());
    },
  };
};

/** Without categories: all streams but the system's. */
const filterOf = (categories: readonly string[]): ReadFilter =>
  categories.length === 0
    ? { on: 'type', by: { regex: '^[^$].*' } }
    : { on: 'stream', by: { prefixes: categories.map((category) => `${category}-`) } };
