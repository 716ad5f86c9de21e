import { binaryEvent } from '@eventstore/db-client';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { collect, freshStream, headPosition, numbered, one, revisions, take } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

const link = (stream: string, revision: bigint) =>
  binaryEvent({ type: '$>', data: Buffer.from(`${String(revision)}@${stream}`) });

describe('a link', () => {
  const [source, links] = [freshStream(), freshStream('links')];

  beforeAll(async () => {
    await store.client.appendToStream(source, numbered(3));
    await store.client.appendToStream(links, [link(source, 2n), link(source, 0n)]);
  });

  it('is an event of its own when links are not resolved', async () => {
    const events = await collect(store.client.readStream(links));
    expect(events.map(({ event }) => event?.type)).toEqual(['$>', '$>']);
    expect(events.every(({ link: resolved }) => resolved === undefined)).toBe(true);
  });

  it('is replaced by the event it points to when links are resolved', async () => {
    const events = await collect(store.client.readStream(links, { resolveLinkTos: true }));
    expect(events.map(({ event }) => event?.streamId)).toEqual([source, source]);
    expect(revisions(events)).toEqual([2n, 0n]);
    expect(events.map(({ link: resolved }) => [resolved?.streamId, resolved?.revision])).toEqual([
      [links, 0n],
      [links, 1n],
    ]);
  });

  it('is resolved in subscriptions, to a stream and to $all', async () => {
    const events = await take(store.client.subscribeToStream(links, { resolveLinkTos: true }), 2);
    expect(revisions(events)).toEqual([2n, 0n]);
    const from = await headPosition(store.client);
    await store.client.appendToStream(freshStream('links'), link(source, 1n));
    const [live] = await take(store.client.subscribeToAll({ fromPosition: from, resolveLinkTos: true }), 1);
    expect(live?.event).toMatchObject({ streamId: source, revision: 1n });
    expect(live?.link?.type).toBe('$>');
  });

  it('to an event that is gone comes without the event', async () => {
    const [deleted, dangling] = [freshStream(), freshStream('links')];
    await store.client.appendToStream(deleted, one());
    await store.client.appendToStream(dangling, [link(deleted, 0n), link(freshStream(), 0n)]);
    await store.client.deleteStream(deleted);
    const events = await collect(store.client.readStream(dangling, { resolveLinkTos: true }));
    expect(events.map(({ event }) => event)).toEqual([undefined, undefined]);
    expect(events.map(({ link: resolved }) => resolved?.revision)).toEqual([0n, 1n]);
  });
});
