import { randomUUID } from 'node:crypto';
import type { JSONEventData, ResolvedEvent } from '@eventstore/db-client';
import { binaryEvent, jsonEvent, type EventStoreDBClient } from './client.js';

/** A stream name that no other test uses. */
export const freshStream = (category = 'thing'): string => `${category}-${randomUUID()}`;

/** Events numbered in their data, from 0. */
export const numbered = (count: number, type = 'Counted'): JSONEventData[] =>
  Array.from({ length: count }, (_, n) => jsonEvent({ type, data: { n } }));

export const one = (type = 'Counted'): JSONEventData => jsonEvent({ type, data: { n: 0 } });

/** An event of a size in bytes. */
export const binaryOf = (bytes: number) => binaryEvent({ type: 'Blob', data: Buffer.alloc(bytes) });

/** Collects all items of an iterable. */
export const collect = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
};

export const revisions = (events: readonly ResolvedEvent[]): (bigint | undefined)[] =>
  events.map(({ event }) => event?.revision);

/** Of EventStoreDB 23.10, which drops a subscriber that is 32 events behind while it is live or becomes so. */
const DROPPED = /Consumer too slow/;

/**
 * The same, of the wanted items, by a consumer: subscribes again after the last item when the store has dropped it for
 * being slow.
 */
export const takeResubscribing = async <T>(
  subscribe: (last: T | undefined) => AsyncIterable<T> & { unsubscribe(): Promise<void> },
  count: number,
  isWanted: (item: T) => boolean = () => true,
): Promise<T[]> => {
  const items: T[] = [];
  let last: T | undefined;
  while (items.length < count) {
    const subscription = subscribe(last);
    try {
      for await (const item of subscription) {
        last = item;
        if (isWanted(item)) items.push(item);
        if (items.length >= count) break;
      }
    } catch (error) {
      if (!DROPPED.test(String(error))) throw error;
    } finally {
      await subscription.unsubscribe();
    }
  }
  return items;
};

/** Takes the first `count` items of a subscription, then unsubscribes. */
export const take = <T>(
  subscription: AsyncIterable<T> & { unsubscribe(): Promise<void> },
  count: number,
): Promise<T[]> => takeResubscribing(() => subscription, count);

/** The error of a rejected promise; throws when the promise resolves. */
export const rejection = async (promise: Promise<unknown>): Promise<Record<string, unknown>> => {
  try {
    await promise;
  } catch (error) {
    return error as Record<string, unknown>;
  }
  throw new Error('Expected a rejection.');
};

/** Position of the last event of the whole store. */
export const headPosition = async (
  client: EventStoreDBClient,
): Promise<{ commit: bigint; prepare: bigint }> => {
  const [last] = await collect(client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 }));
  if (!last?.event) throw new Error('The store is empty.');
  return last.event.position;
};
