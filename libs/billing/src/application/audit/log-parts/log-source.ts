import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { QuarantineRegister } from '@app/event-sourcing/quarantine/quarantine-register.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { EventStoreDb, EventStoreDbOptions } from '@app/event-sourcing/store/eventstoredb.js';
import type { EncodedEvent } from '@app/event-sourcing/store/read-answer.js';
import type { StreamSelection } from '@app/event-sourcing/store/stream-selection.js';

/** Where an audit reads the log. Its events carry their quarantine. */
export interface LogSource<E> {
  /** The log after a position (`null`: from the beginning), in log order. @throws StoreUnavailable */
  pages(after: bigint | null): AsyncIterable<readonly E[]>;
  close(): Promise<void>;
}

/** Events together: few enough that the store sends the next ones meanwhile. */
const PAGE = 64;

/** Reads the log with the caller's store. */
export const decodedLog = (
  store: Pick<EventStore, 'readAll'>,
  only: StreamSelection,
): LogSource<StoredEvent> => ({
  async *pages(after) {
    let page: StoredEvent[] = [];
    for await (const event of store.readAll({ after, only })) {
      page.push(event);
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
    yield page;
  },
  close: async () => {
    // The store belongs to the caller.
  },
});

/** Reads the log over a connection of its own. It only reads, so it shares nothing with the process's connection. */
export const encodedLog = (
  connection: EventStoreDbOptions,
  only: StreamSelection,
): LogSource<EncodedEvent> => {
  let opened: { readonly store: EventStoreDb; readonly register: QuarantineRegister } | undefined;
  const open = async () => {
    // Imported only here: commands that read no log in threads start sooner without the client.
    const { openEventStore } = await import('@app/event-sourcing/store/eventstoredb.js');
    const store = await openEventStore(connection);
    return { store, register: new QuarantineRegister(store) };
  };
  return {
    async *pages(after) {
      const { store, register } = (opened ??= await open());
      await register.refresh();
      for await (const page of store.readEncoded(after, only))
        yield register.isEmpty ? page : page.map((event) => register.marked(event));
    },
    close: async () => opened?.store.close(),
  };
};
