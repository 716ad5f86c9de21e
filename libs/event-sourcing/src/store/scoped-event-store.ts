import { categoryOf } from '../core/stream-name.js';
import type { EventStore } from './event-store.js';

/**
 * The store as one module sees it. The module reads everything and appends only to its own categories, so it cannot write
 * another module's history.
 */
export const scopedEventStore = (store: EventStore, ownCategories: readonly string[]): EventStore => ({
  append(stream, expected, events) {
    if (!ownCategories.includes(categoryOf(stream))) {
      throw new TypeError(`Only ${ownCategories.join(', ')} streams may be appended to here, not ${stream}`);
    }
    return store.append(stream, expected, events);
  },
  read: (stream, options) => store.read(stream, options),
  readAll: (options) => store.readAll(options),
  subscribe: (options) => store.subscribe(options),
  head: () => store.head(),
  end: () => store.end(),
  serverTime: () => store.serverTime(),
  close: () => store.close(),
});
