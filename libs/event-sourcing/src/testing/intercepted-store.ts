import type { EventStore } from '../store/event-store.js';

/** A store with some methods replaced, for specs of faults. */
export const intercept = (store: EventStore, doors: Partial<EventStore>): EventStore => ({
  append: (stream, expected, events) => store.append(stream, expected, events),
  read: (stream, options) => store.read(stream, options),
  readAll: (options) => store.readAll(options),
  subscribe: (options) => store.subscribe(options),
  head: () => store.head(),
  end: () => store.end(),
  serverTime: () => store.serverTime(),
  close: () => store.close(),
  ...doors,
});
