import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

describe('the metadata of a stream', () => {
  const store = storeUnderTest();

  it('is what was set last', async () => {
    const stream = freshStream();
    await store.client.setStreamMetadata(stream, { maxCount: 5 });
    await store.client.setStreamMetadata(stream, { truncateBefore: 2, custom: 'kept' });
    const { metadata } = await store.client.getStreamMetadata(stream);
    expect(metadata).toEqual({ truncateBefore: 2, custom: 'kept' });
  });

  it('is absent when it was never set', async () => {
    const { metadata } = await store.client.getStreamMetadata(freshStream());
    expect(metadata).toBeUndefined();
  });

  it('is guarded by its own revision', async () => {
    const stream = freshStream();
    await store.client.setStreamMetadata(stream, { maxCount: 5 }, { expectedRevision: 'no_stream' });
    const error = await rejection(
      store.client.setStreamMetadata(stream, { maxCount: 6 }, { expectedRevision: 'no_stream' }),
    );
    expect(error).toMatchObject({ type: 'wrong-expected-version' });
  });

  it('makes the stream exist for stream_exists', async () => {
    const stream = freshStream();
    await store.client.setStreamMetadata(stream, { maxCount: 5 });
    const result = await store.client.appendToStream(stream, one(), { expectedRevision: 'stream_exists' });
    expect(result.nextExpectedRevision).toBe(0n);
  });

  it('shows only the last events by maxCount, in both directions', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(10));
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    expect(revisions(await collect(store.client.readStream(stream)))).toEqual([7n, 8n, 9n]);
    const backwards = store.client.readStream(stream, { direction: 'backwards', fromRevision: 'end' });
    expect(revisions(await collect(backwards))).toEqual([9n, 8n, 7n]);
    await store.client.appendToStream(stream, one(), { expectedRevision: 9n });
    expect(revisions(await collect(store.client.readStream(stream)))).toEqual([8n, 9n, 10n]);
  });

  it('hides the events before truncateBefore, and all of them without hiding the stream', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(5));
    await store.client.setStreamMetadata(stream, { truncateBefore: 3 });
    expect(revisions(await collect(store.client.readStream(stream)))).toEqual([3n, 4n]);
    await store.client.setStreamMetadata(stream, { truncateBefore: 100 });
    expect(await collect(store.client.readStream(stream))).toEqual([]);
  });

  it('hides the events older than maxAge', async () => {
    // On a slow machine, the last events may be too old as well before they are read.
    for (let isLate = true; isLate;) {
      const stream = freshStream();
      await store.client.appendToStream(stream, numbered(2));
      await delay(3_200);
      const since = performance.now();
      await store.client.appendToStream(stream, numbered(2));
      await store.client.setStreamMetadata(stream, { maxAge: 3 });
      const forwards = revisions(await collect(store.client.readStream(stream)));
      const read = store.client.readStream(stream, { direction: 'backwards', fromRevision: 'end' });
      const backwards = revisions(await collect(read));
      isLate = performance.now() - since >= 3_000;
      if (!isLate)
        expect([forwards, backwards]).toEqual([
          [2n, 3n],
          [3n, 2n],
        ]);
    }
  });

  it('survives a soft delete and a revival, except for the truncation', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(3));
    await store.client.deleteStream(stream);
    await store.client.appendToStream(stream, numbered(2));
    // The metadata may follow the append after a moment.
    let metadata = (await store.client.getStreamMetadata(stream)).metadata;
    while (metadata?.truncateBefore !== 3) ({ metadata } = await store.client.getStreamMetadata(stream));
    expect(metadata).toEqual({ truncateBefore: 3 });
  });
});
