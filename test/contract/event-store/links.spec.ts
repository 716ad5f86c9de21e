import { binaryEvent } from './support/client.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { collect, freshStream, headPosition, numbered, one, revisions, take } from './support/events.js';
import { IS_EMBEDDED, storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

const link = (stream: string, revision: bigint) =>
  binaryEvent({ type: '$>', data: Buffer.from(`${String(revision)}@${stream}`) });

describe('a link', () => {
  const [source, links] = [freshStream(), freshStream('links')];

  beforeAll(async () => {
    await store.client.appendToStream(source, numbered(3));
    await store.client.appendToStream(links, [link(source, 2n), link(source, 0n)]);
  });

  it('is delivered as an event when links are not resolved', async () => {
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

  it('is resolved in subscriptions to a stream and to $all', async () => {
    const events = await take(store.client.subscribeToStream(links, { resolveLinkTos: true }), 2);
    expect(revisions(events)).toEqual([2n, 0n]);
    const from = await headPosition(store.client);
    await store.client.appendToStream(freshStream('links'), link(source, 1n));
    const [live] = await take(store.client.subscribeToAll({ fromPosition: from, resolveLinkTos: true }), 1);
    expect(live?.event).toMatchObject({ streamId: source, revision: 1n });
    expect(live?.link?.type).toBe('$>');
  });

  it('to a deleted event is delivered without the event', async () => {
    const [deleted, dangling] = [freshStream(), freshStream('links')];
    await store.client.appendToStream(deleted, one());
    await store.client.appendToStream(dangling, [link(deleted, 0n), link(freshStream(), 0n)]);
    await store.client.deleteStream(deleted);
    const events = await collect(store.client.readStream(dangling, { resolveLinkTos: true }));
    expect(events.map(({ event }) => event)).toEqual([undefined, undefined]);
    expect(events.map(({ link: resolved }) => resolved?.revision)).toEqual([0n, 1n]);
  });
});

(IS_EMBEDDED ? describe : describe.skip)('the system links, when they are switched on', () => {
  const linked = storeUnderTest({ systemLinks: true });

  const resolved = async (stream: string) => {
    const events = await collect(linked.client.readStream(stream, { resolveLinkTos: true }));
    return events.map(({ event }) => `${event?.streamId ?? ''}/${String(event?.revision)}`);
  };

  it('list the events of a category, those of a type, and the streams, in position order', async () => {
    await linked.client.appendToStream('order-1', [one('Placed'), one('Paid')]);
    await linked.client.appendToStream('parcel-1', one('Placed'));
    await linked.client.appendToStream('order-2', one('Placed'));
    await linked.client.setStreamMetadata('order-1', { maxCount: 10 });
    expect(await resolved('$ce-order')).toEqual(['order-1/0', 'order-1/1', 'order-2/0']);
    expect(await resolved('$et-Placed')).toEqual(['order-1/0', 'parcel-1/0', 'order-2/0']);
    expect(await resolved('$streams')).toEqual(['order-1/0', 'parcel-1/0', 'order-2/0']);
  });

  it("are written once for a repeated append, which returns the event's own position", async () => {
    const event = one('Repeated');
    const first = await linked.client.appendToStream('order-3', event, { expectedRevision: 'no_stream' });
    const again = await linked.client.appendToStream('order-3', event, { expectedRevision: 'no_stream' });
    expect(again).toEqual(first);
    expect(first.nextExpectedRevision).toBe(0n);
    expect(await resolved('$et-Repeated')).toEqual(['order-3/0']);
  });

  it('are followed live by a subscription', async () => {
    const received = take(linked.client.subscribeToStream('$ce-live', { resolveLinkTos: true }), 3);
    for (const name of ['live-1', 'live-2', 'live-1']) await linked.client.appendToStream(name, one());
    const events = await received;
    expect(events.map(({ event }) => event?.streamId)).toEqual(['live-1', 'live-2', 'live-1']);
  });
});
