import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';

/** An event store that is opened by its first call. Many commands need none, and its client takes long to load. */
export const lazyEventStore = (open: () => Promise<EventStore>): EventStore => {
  let opening: Promise<EventStore> | undefined;
  let store: EventStore | undefined;
  const opened = (): Promise<EventStore> =>
    (opening ??= open().then(
      (one) => (store = one),
      (error: unknown) => {
        // A command that runs for long tries again.
        opening = undefined;
        throw error;
      },
    ));
  async function* events(
    read: (from: EventStore) => AsyncIterable<StoredEvent>,
  ): AsyncGenerator<StoredEvent> {
    yield* read(await opened());
  }
  return {
    append: async (...given) => (await opened()).append(...given),
    read: (...given) => events((from) => from.read(...given)),
    readAll: (...given) => events((from) => from.readAll(...given)),
    subscribe: (options) => {
      const subscribing = opened().then((one) => one.subscribe(options));
      return {
        async *[Symbol.asyncIterator]() {
          yield* await subscribing;
        },
        close: async () => (await subscribing).close(),
      };
    },
    head: async () => (await opened()).head(),
    end: async () => (await opened()).end(),
    serverTime: async () => store?.serverTime() ?? null,
    close: async () => (await opening)?.close(),
  };
};
