import type { StoredEvent } from '../core/event.js';

/** All events of a bounded read. */
export const collect = async (events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> => {
  const all: StoredEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};
