import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';

/** An event store that is opened by its first call. Many commands need none, and its client takes long to load. */
export const lazyEventStore = (open: () => Promise<EventStore>): EventStore => {
  let opening: Promise<EventStore> | undefined;
  const opened = (): Promise<EventStore> => (opening ??= open());
  async function* events(
    read: (store: EventStore) => AsyncIterable<StoredEvent>,
  ): AsyncGenerator<StoredEvent> {
    yield* read(await opened());
  }
  return {
    append: async (...given) => (await opened()).append(...given),
    read: (...given) => events((store) => store.read(...given)),
    readAll: (...given) => events((store) => store.readAll(...given)),
    subscribe: (options) => {
      const subscribing = opened().then((store) => store.subscribe(options));
      return {
        async *[Symbol.asyncIterator]() {
          yield* await subscribing;
        },
        close: async () => (await subscribing).close(),
      };
    },
    head: async () => (await opened()).head(),
    end: async () => (await opened()).end(),
    close: async () => (await opening)?.close(),
  };
};
