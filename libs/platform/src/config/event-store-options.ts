import type { EventStoreDbOptions } from '#event-sourcing/store/eventstoredb.js';
import type { Config } from './settings.js';

type StoreSettings = Pick<Config, 'EVENTSTORE_URL' | 'EVENT_STORE_TIMEOUT_MS'>;

/** An operator may truncate the streams of an erased reading before these. */
export const LAST_WORDS: ReadonlySet<string> = new Set(['ReadingErased', 'PublicationWithdrawn']);

/** How every program of the service connects to the event store. */
export const eventStoreOptions = (config: StoreSettings): EventStoreDbOptions => ({
  connectionString: config.EVENTSTORE_URL,
  appendTimeoutMs: Math.ceil(config.EVENT_STORE_TIMEOUT_MS / 2),
  readTimeoutMs: config.EVENT_STORE_TIMEOUT_MS,
  mayBeginWith: LAST_WORDS,
});
