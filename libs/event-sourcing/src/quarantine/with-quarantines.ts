import type { StoredEvent } from '../core/event.js';
import type { EventStore } from '../store/event-store.js';
import { QUARANTINE_STREAM } from './quarantine-events.js';
import { QuarantineRegister } from './quarantine-register.js';

/**
 * The store, whose events carry their quarantine: the one place where readers learn of it. While there is no quarantine,
 * events pass through untouched.
 */
export const withQuarantines = (store: EventStore): EventStore => {
  const register = new QuarantineRegister(store);
  const marked = (events: AsyncIterable<StoredEvent>): AsyncIterable<StoredEvent> => ({
    [Symbol.asyncIterator]: () => markedIterator(events[Symbol.asyncIterator](), register),
  });
  return {
    async append(stream, expected, events) {
      const result = await store.append(stream, expected, events);
      if (stream === QUARANTINE_STREAM) await register.refresh();
      return result;
    },
    read: (stream, options) => marked(store.read(stream, options)),
    readAll: (options) => marked(store.readAll(options)),
    subscribe(options) {
      const subscription = store.subscribe(options);
      return {
        [Symbol.asyncIterator]: () => markedOnArrival(subscription[Symbol.asyncIterator](), register),
        close: () => subscription.close(),
      };
    },
    head: () => store.head(),
    end: () => store.end(),
    serverTime: () => store.serverTime(),
    close: () => store.close(),
    quarantines: register,
  };
};

/** A subscription may wait for hours: it looks at the register when an event arrives. */
const markedOnArrival = (
  source: AsyncIterator<StoredEvent>,
  register: QuarantineRegister,
): AsyncIterator<StoredEvent> => ({
  async next() {
    const next = await source.next();
    if (next.done) return next;
    if (!register.isFresh()) await register.refresh();
    return { done: false, value: register.marked(next.value) };
  },
  return: async () => source.return?.() ?? { done: true, value: undefined },
});

/** Looks at the register before the first event. A generator would cost every reader a tenth of its rate. */
const markedIterator = (
  source: AsyncIterator<StoredEvent>,
  register: QuarantineRegister,
): AsyncIterator<StoredEvent> => {
  const mark = (next: IteratorResult<StoredEvent>): IteratorResult<StoredEvent> =>
    next.done || register.isEmpty ? next : { done: false, value: register.marked(next.value) };
  let begun = false;
  return {
    next() {
      if (begun || register.isFresh()) {
        begun = true;
        return register.isEmpty ? source.next() : source.next().then(mark);
      }
      begun = true;
      return register
        .refresh()
        .then(() => source.next())
        .then(mark);
    },
    return: async () => source.return?.() ?? { done: true, value: undefined },
  };
};
