import { crc32 } from 'node:zlib';
import type { ResolvedRecord } from '../reads/resolve-link.js';
import type { DeliveryTimes } from './delivery-times.js';
import { isPinning, type ConsumerStrategy } from './settings.js';

/** An event in delivery to a group. */
export interface Message extends ResolvedRecord {
  /** Delivery order: retried messages go before new ones. */
  readonly sequence: number;
  /** Id that consumers acknowledge: that of the link, if there is one. */
  readonly id: string;
  /** Key used for pinning: the stream name, or the correlation id. */
  readonly pinnedBy: string;
  /** Revision or position in the source; undefined for a replayed parked message. */
  readonly place: bigint | undefined;
  /** Revision in the parked stream; only for a replayed message. */
  readonly parkedAt: bigint | undefined;
  retries: number;
}

/** One connected consumer with its unacknowledged messages, oldest first. */
export interface Consumer {
  readonly id: string;
  readonly from: string;
  /** Name that the client gave its connection. */
  readonly connectionName: string;
  readonly username: string;
  /** Maximum number of unacknowledged events. */
  readonly slots: number;
  readonly inFlight: Map<string, { readonly message: Message; readonly deadline: number }>;
  total: number;
  /** Only for a group with extra statistics. */
  readonly times?: DeliveryTimes | undefined;
  readonly deliver: (message: Message) => void;
  readonly drop: (error: Error) => void;
}

const canTake = (consumer: Consumer, { id }: Message): boolean =>
  consumer.inFlight.size < consumer.slots && !consumer.inFlight.has(id);

/** Rendezvous hashing: a key keeps its consumer while that one is connected, even when others join or leave. */
const pinnedTo = (consumers: readonly Consumer[], key: string): Consumer | undefined => {
  let best: Consumer | undefined;
  let highest = -1;
  for (const consumer of consumers) {
    const weight = crc32(`${consumer.id}/${key}`);
    if (weight <= highest) continue;
    highest = weight;
    best = consumer;
  }
  return best;
};

/**
 * The consumer for a message, or undefined while none has a free slot. `consumers` is in selection order:
 * RoundRobin moves the chosen one to the end; DispatchToSingle uses the first one until it is full.
 */
export const chooseConsumer = (
  strategy: ConsumerStrategy,
  consumers: readonly Consumer[],
  message: Message,
): Consumer | undefined => {
  if (!isPinning(strategy)) return consumers.find((consumer) => canTake(consumer, message));
  const pinned = pinnedTo(consumers, message.pinnedBy);
  return pinned && canTake(pinned, message) ? pinned : undefined;
};

/** Removes messages from those in flight to a consumer. Ids that it does not have, since they timed out, are ignored. */
export const takeInFlight = (consumer: Consumer, ids: readonly string[]): Message[] => {
  const messages: Message[] = [];
  for (const id of ids) {
    const entry = consumer.inFlight.get(id);
    if (!entry) continue;
    consumer.inFlight.delete(id);
    consumer.times?.ended(id);
    messages.push(entry.message);
  }
  return messages;
};
