import { crc32 } from 'node:zlib';
import type { ResolvedRecord } from '../reading/resolve-link.js';
import type { ConsumerStrategy } from './settings.js';

/** An event on its way through a group. */
export interface Message extends ResolvedRecord {
  /** Order of delivery: what is retried goes before what is new. */
  readonly sequence: number;
  /** Id under which a consumer answers for it: the link's, if there is one. */
  readonly id: string;
  /** Stream that pinning goes by. */
  readonly stream: string;
  /** Revision or position in the source; undefined for one that was parked and is replayed. */
  readonly place: bigint | undefined;
  /** Revision in the parked stream, of one that is replayed. */
  readonly parkedAt: bigint | undefined;
  retries: number;
}

/** One consumer connected to a group, and what it has not answered for yet, oldest first. */
export interface Consumer {
  readonly id: string;
  readonly from: string;
  readonly username: string;
  /** Events it takes before it answers for one. */
  readonly slots: number;
  readonly inFlight: Map<string, { readonly message: Message; readonly deadline: number }>;
  total: number;
  readonly deliver: (message: Message) => void;
  readonly drop: (error: Error) => void;
}

const canTake = (consumer: Consumer, { id }: Message): boolean =>
  consumer.inFlight.size < consumer.slots && !consumer.inFlight.has(id);

/** Rendezvous hashing: a stream keeps its consumer while that one stays, whoever else comes or goes. */
const pinnedTo = (consumers: readonly Consumer[], stream: string): Consumer | undefined => {
  let best: Consumer | undefined;
  let highest = -1;
  for (const consumer of consumers) {
    const weight = crc32(`${consumer.id}/${stream}`);
    if (weight <= highest) continue;
    highest = weight;
    best = consumer;
  }
  return best;
};

/**
 * The consumer that gets a message, or undefined while none may. `consumers` is in the order in which they are served: RoundRobin
 * moves the chosen one to the end; DispatchToSingle keeps to the first until it is full.
 */
export const chooseConsumer = (
  strategy: ConsumerStrategy,
  consumers: readonly Consumer[],
  message: Message,
): Consumer | undefined => {
  if (strategy !== 'Pinned') return consumers.find((consumer) => canTake(consumer, message));
  const pinned = pinnedTo(consumers, message.stream);
  return pinned && canTake(pinned, message) ? pinned : undefined;
};
