import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect as connectHttp, type ClientHttp2Session } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from './support/client.js';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { openCalls } from './support/open-calls.js';
import { EXTERNAL_URL, IS_EMBEDDED, storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

describe('a read of a stream', () => {
  const stream = freshStream();

  beforeAll(async () => {
    await store.client.appendToStream(stream, numbered(10));
  });

  it.each([
    ['forwards from a revision, inclusive', { fromRevision: 7n }, [7n, 8n, 9n]],
    ['forwards up to a count', { fromRevision: 2n, maxCount: 3 }, [2n, 3n, 4n]],
    ['forwards beyond the end', { fromRevision: 10n }, []],
    ['backwards from the end', { direction: 'backwards', fromRevision: 'end', maxCount: 3 }, [9n, 8n, 7n]],
    ['backwards from a revision, inclusive', { direction: 'backwards', fromRevision: 2n }, [2n, 1n, 0n]],
  ] as const)('%s', async (_, options, expected) => {
    expect(revisions(await collect(store.client.readStream(stream, options)))).toEqual(expected);
  });

  it('of a stream that does not exist fails as not found', async () => {
    const missing = freshStream();
    const error = await rejection(collect(store.client.readStream(missing)));
    expect(error).toMatchObject({ type: 'stream-not-found', streamName: missing });
  });

  it('works for a client that finds its node by gossip', async () => {
    const client = connect(store.connectionString.replace(/^esdb:/, 'esdb+discover:'));
    const found = freshStream();
    await client.appendToStream(found, one());
    expect(await collect(client.readStream(found))).toHaveLength(1);
    await client.dispose();
  });
});

describe('a read of $all', () => {
  it('begins with events of the system', async () => {
    const [first] = await collect(store.client.readAll({ maxCount: 1 }));
    expect(first?.event).toMatchObject({
      streamId: expect.stringMatching(/^\$/),
      type: expect.stringMatching(/^\$/),
    });
  });

  it('forwards includes the event at its position; backwards starts before it, or at the end', async () => {
    const stream = freshStream();
    const { position: first } = await store.client.appendToStream(stream, one());
    const { position: second } = await store.client.appendToStream(stream, one());
    // Other specs may append to the same store, also between the two.
    const events = (options: Parameters<typeof store.client.readAll>[0]) =>
      collect(store.client.readAll(options));
    const positions = async (options: Parameters<typeof store.client.readAll>[0]) =>
      (await events(options))
        .filter(({ event }) => event?.streamId === stream)
        .map(({ event }) => event?.position);
    const [atFirst] = await events({ fromPosition: first!, maxCount: 1 });
    expect(atFirst?.event?.position).toEqual(first);
    expect(await positions({ fromPosition: first! })).toEqual([first, second]);
    expect(await positions({ direction: 'backwards', fromPosition: second! })).toEqual([first]);
    expect(await positions({ direction: 'backwards', fromPosition: 'end' })).toEqual([second, first]);
    const far = { commit: 2n ** 62n, prepare: 2n ** 62n };
    expect(await events({ fromPosition: far })).toEqual([]);
  });
});

/** Calls that one connection may have open at once. */
const MOST = 100;

/** Raw connections, and figures by HTTP, without TLS. */
const whenInsecure = EXTERNAL_URL && !EXTERNAL_URL.includes('tls=false') ? describe.skip : describe;

whenInsecure('the open calls on one connection', () => {
  it('are limited to a hundred, as the server announces on connect', async () => {
    const session: ClientHttp2Session = connectHttp(store.connectionString.replace(/^esdb:/, 'http:'));
    const [settings] = (await once(session, 'remoteSettings')) as [{ maxConcurrentStreams: number }];
    session.destroy();
    expect(settings.maxConcurrentStreams).toBe(MOST);
  });

  it('make one more wait until another is cancelled', async () => {
    const client = store.another();
    const open = Array.from({ length: MOST }, () => client.subscribeToAll());
    for (const subscription of open) subscription.on('error', () => undefined);
    await Promise.all(open.map((subscription) => once(subscription, 'confirmation')));
    const oneMore = client.subscribeToAll();
    let confirmed = false;
    const confirmation = once(oneMore, 'confirmation').then(() => (confirmed = true));
    await delay(300);
    expect(confirmed).toBe(false);
    await open.shift()?.unsubscribe();
    await confirmation;
    await Promise.all([oneMore, ...open].map((subscription) => subscription.unsubscribe()));
  });

  // A real server samples its figure, which includes the calls of others and those that ask for it.
  (IS_EMBEDDED ? it : it.skip)('are counted, including those that the client does not read', async () => {
    await store.client.appendToStream(freshStream(), numbered(5_000));
    const figure = async (expected: number): Promise<number> => {
      for (let look = 0; look < 100 && (await openCalls(store.connectionString)) !== expected; look += 1)
        await delay(50);
      return openCalls(store.connectionString);
    };
    const before = await openCalls(store.connectionString);
    const unread = Array.from({ length: 7 }, () => store.client.subscribeToAll());
    await Promise.all(unread.map((subscription) => once(subscription, 'readable')));
    expect(await figure(before + 7)).toBe(before + 7);
    await Promise.all(unread.map((subscription) => subscription.unsubscribe()));
    expect(await figure(before)).toBe(before);
  });
});
