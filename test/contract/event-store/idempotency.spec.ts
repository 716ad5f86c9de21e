import { describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

describe('a repeated append', () => {
  const store = storeUnderTest();

  it('with no_stream returns the first result and writes nothing', async () => {
    const stream = freshStream();
    const events = numbered(3);
    const first = await store.client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
    await store.client.appendToStream(stream, one(), { expectedRevision: 2n });
    const again = await store.client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
    expect(again).toEqual(first);
    expect(await collect(store.client.readStream(stream))).toHaveLength(4);
  });

  it('with an exact revision returns the first result and writes nothing', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(2), { expectedRevision: 'no_stream' });
    const events = numbered(2);
    const first = await store.client.appendToStream(stream, events, { expectedRevision: 1n });
    const again = await store.client.appendToStream(stream, events, { expectedRevision: 1n });
    expect(again).toEqual(first);
    expect(await collect(store.client.readStream(stream))).toHaveLength(4);
  });

  it.each(['any', 'stream_exists'] as const)(
    'with %s is recognised by its event ids',
    async (expectedRevision) => {
      const stream = freshStream();
      await store.client.appendToStream(stream, one());
      const events = numbered(2);
      const first = await store.client.appendToStream(stream, events, { expectedRevision });
      const again = await store.client.appendToStream(stream, events, { expectedRevision });
      expect(again.nextExpectedRevision).toBe(first.nextExpectedRevision);
      expect(await collect(store.client.readStream(stream))).toHaveLength(3);
    },
  );

  it('during the first append writes once', async () => {
    const stream = freshStream();
    const event = one();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () =>
        store.client.appendToStream(stream, event, { expectedRevision: 'no_stream' }),
      ),
    );
    expect(new Set(outcomes.map(({ position }) => position?.commit)).size).toBe(1);
    expect(await collect(store.client.readStream(stream))).toHaveLength(1);
  });

  it('conflicts when the first event is another one', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(2), { expectedRevision: 'no_stream' });
    const error = await rejection(
      store.client.appendToStream(stream, numbered(2), { expectedRevision: 'no_stream' }),
    );
    expect(error).toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
  });

  it('conflicts when only part of it was written before', async () => {
    const stream = freshStream();
    const events = numbered(3);
    await store.client.appendToStream(stream, events.slice(0, 2), { expectedRevision: 'no_stream' });
    const error = await rejection(
      store.client.appendToStream(stream, events, { expectedRevision: 'no_stream' }),
    );
    expect(error).toMatchObject({ type: 'wrong-expected-version' });
    expect(await collect(store.client.readStream(stream))).toHaveLength(2);
  });

  it('does not count as a repetition in another stream', async () => {
    const event = one();
    await store.client.appendToStream(freshStream(), event);
    const stream = freshStream();
    await store.client.appendToStream(stream, event);
    expect(await collect(store.client.readStream(stream))).toHaveLength(1);
  });
});
