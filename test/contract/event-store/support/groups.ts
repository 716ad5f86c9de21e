import { setTimeout as delay } from 'node:timers/promises';
import type {
  PersistentSubscriptionToStreamInfo,
  PersistentSubscriptionToStreamSettings,
} from '@eventstore/db-client';
import { persistentSubscriptionToStreamSettingsFromDefaults } from './clients/under-test.js';
import { freshStream, numbered } from './events.js';
import type { StoreUnderTest } from './store-under-test.js';

/** The name of every group that `groupsOf` creates. */
export const GROUP = 'readers';

export const settings = (changes: Partial<PersistentSubscriptionToStreamSettings> = {}) =>
  persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: 'start', ...changes });

/** Creates groups of consumers on new streams of the store, and asks about them. */
export const groupsOf = (store: StoreUnderTest) => {
  /** Creates a group on a new stream with `count` events. */
  const group = async (count: number, changes: Partial<PersistentSubscriptionToStreamSettings> = {}) => {
    const stream = freshStream('grouped');
    if (count > 0) await store.client.appendToStream(stream, numbered(count));
    await store.client.createPersistentSubscriptionToStream(stream, GROUP, settings(changes));
    return stream;
  };

  const info = (stream: string): Promise<PersistentSubscriptionToStreamInfo> =>
    store.client.getPersistentSubscriptionToStreamInfo(stream, GROUP);

  /** Polls until the group is as expected; the test's timeout ends it. */
  const infoWhen = async (
    stream: string,
    expected: (info: PersistentSubscriptionToStreamInfo) => boolean,
  ): Promise<PersistentSubscriptionToStreamInfo> => {
    for (;;) {
      const found = await info(stream);
      if (expected(found)) return found;
      await delay(10);
    }
  };

  const parkedCount = (stream: string, count: bigint) =>
    infoWhen(stream, ({ stats }) => stats.parkedMessageCount === count);

  return { group, info, infoWhen, parkedCount };
};
