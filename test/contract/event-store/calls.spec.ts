import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { openCalls } from './support/open-calls.js';
import { collect, freshStream, numbered } from './support/events.js';
import { EXTERNAL_URL, IS_EMBEDDED, storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

/** Calls that one connection may have open at once. */
const MOST = 100;

/** Retries, since a server reports its figures with a delay; a real one samples them. */
const figure = async (expected: number): Promise<number> => {
  for (let look = 0; look < 100 && (await openCalls(store.connectionString)) !== expected; look += 1)
    await delay(50);
  return openCalls(store.connectionString);
};

/** Raw connections, and figures by HTTP, without TLS. */
const whenInsecure = EXTERNAL_URL && !EXTERNAL_URL.includes('tls=false') ? describe.skip : describe;

whenInsecure('the open calls on one connection', () => {
  it('are limited to a hundred, as the server announces on connect', async () => {
    const session: ClientHttp2Session = connect(store.connectionString.replace(/^esdb:/, 'http:'));
    const [settings] = (await once(session, 'remoteSettings')) as [{ maxConcurrentStreams: number }];
    session.destroy();
    expect(settings.maxConcurrentStreams).toBe(MOST);
  });

  it('make one more wait until another is cancelled', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(1));
    // The stream of appends is open already.
    const open = Array.from({ length: MOST - 1 }, () => store.client.subscribeToStream(stream));
    await Promise.all(open.map((subscription) => once(subscription, 'confirmation')));

    const oneMore = store.client.subscribeToStream(stream);
    let confirmed = false;
    const confirmation = once(oneMore, 'confirmation').then(() => (confirmed = true));
    await delay(300);
    expect(confirmed).toBe(false);
    // A call cancelled while it waits never reaches the server, so it does not count.
    const waiting = Array.from({ length: 5 }, () => store.client.subscribeToStream(stream));
    await Promise.all(waiting.map((subscription) => subscription.unsubscribe()));

    await open.shift()?.unsubscribe();
    await confirmation;
    await Promise.all([oneMore, ...open].map((subscription) => subscription.unsubscribe()));
    expect(await collect(store.client.readStream(stream))).toHaveLength(1);
  });

  // A real server samples its figure, which includes the calls of others and those that ask for it.
  (IS_EMBEDDED ? it : it.skip)(
    'are counted by the server, including those that the client does not read',
    async () => {
      const stream = freshStream();
      await store.client.appendToStream(stream, numbered(5_000));
      // The stream of appends.
      const before = 1;
      expect(await figure(before)).toBe(before);
      const unread = Array.from({ length: 7 }, () => store.client.subscribeToStream(stream));
      await Promise.all(unread.map((subscription) => once(subscription, 'readable')));
      expect(await figure(before + 7)).toBe(before + 7);
      await Promise.all(unread.map((subscription) => subscription.unsubscribe()));
      expect(await figure(before)).toBe(before);
    },
  );
});
