import { describe, it } from '@jest/globals';
import { CLIENT_UNDER_TEST } from '@app/event-sourcing/store/testing/client-under-test.js';
import type { ClientLibrary } from './client-library.js';

/**
 * The client that EVENT_STORE_CLIENT names. Loaded alone: both register their messages in one global namespace, and
 * appends of the first break when the second is loaded. So no spec here starts the embedded store in its own process.
 */
const { library }: { library: ClientLibrary } =
  CLIENT_UNDER_TEST === 'kurrent' ? await import('./kurrent.js') : await import('./eventstore.js');

export const {
  binaryEvent,
  connect,
  eventTypeFilter,
  excludeSystemEvents,
  generated,
  jsonEvent,
  persistentSubscriptionToStreamSettingsFromDefaults,
  streamNameFilter,
} = library;

/** Cases about the older client alone. Each says why. */
export const itWithEventStore = CLIENT_UNDER_TEST === 'eventstore' ? it : it.skip;
export const describeWithEventStore = CLIENT_UNDER_TEST === 'eventstore' ? describe : describe.skip;
/** A case about the newer client alone. Each says why. */
export const itWithKurrent = CLIENT_UNDER_TEST === 'kurrent' ? it : it.skip;

export type { StoreClient } from './client-library.js';
