import { categoryOf } from '../core/stream-name.js';
import type { EventStore } from './event-store.js';

/**
 * The store as one module sees it: it reads everything and appends to its own categories only, so that no module can
 * write another's history, whatever it imports.
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
  close: () => store.close(),
});
