import type {
  PersistentSubscriptionToStream,
  PersistentSubscriptionToStreamResolvedEvent,
  ResolvedEvent,
} from '@eventstore/db-client';
import type { StoreClient } from './clients/under-test.js';

type Delivered = PersistentSubscriptionToStreamResolvedEvent;

/** A consumer of a group. Its methods wait for events to arrive. */
export interface GroupConsumer {
  readonly subscription: PersistentSubscriptionToStream;
  /** The next events, neither acknowledged nor rejected. */
  readonly next: (count?: number) => Promise<Delivered[]>;
  /** The next events, each acknowledged. */
  readonly process: (count: number) => Promise<Delivered[]>;
  /** The error that ends the subscription. */
  readonly failure: () => Promise<Error>;
  readonly leave: () => Promise<void>;
}

export const join = (
  client: StoreClient,
  stream: string,
  group: string,
  bufferSize = 10,
): Promise<GroupConsumer> =>
  consumerOf(client.subscribeToPersistentSubscriptionToStream(stream, group, { bufferSize }));

/** Resolves when the consumer has joined the group. */
export const consumerOf = async (subscription: PersistentSubscriptionToStream): Promise<GroupConsumer> => {
  const arrived: Delivered[] = [];
  let wake = (): void => undefined;
  subscription.on('data', (event) => {
    arrived.push(event);
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    subscription.once('confirmation', resolve);
    subscription.once('error', reject);
  });
  const next = async (count = 1): Promise<Delivered[]> => {
    while (arrived.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return arrived.splice(0, count);
  };
  return {
    subscription,
    next,
    process: async (count) => {
      const events: Delivered[] = [];
      while (events.length < count) {
        for (const event of await next()) {
          await subscription.ack(event);
          events.push(event);
        }
      }
      return events;
    },
    failure: () => new Promise((resolve) => subscription.once('error', resolve)),
    leave: () => subscription.unsubscribe(),
  };
};

export const numbers = (events: readonly ResolvedEvent[]): number[] =>
  events.map(({ event }) => (event!.data as { n: number }).n);
