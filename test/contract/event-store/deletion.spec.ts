import { describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

const isMissing = (stream: string): Promise<boolean> =>
  collect(store.client.readStream(stream)).then(
    () => false,
    () => true,
  );

describe('a soft-deleted stream', () => {
  it('is not found by reads', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(3));
    await store.client.deleteStream(stream, { expectedRevision: 2n });
    expect(await rejection(collect(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-not-found',
    });
    expect(
      await rejection(
        collect(
          store.client.readStream(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 1 }),
        ),
      ),
    ).toMatchObject({ type: 'stream-not-found' });
  });

  it.each(['any', 'no_stream', 2n] as const)(
    'is revived by an append with %s, which continues the numbering',
    async (expectedRevision) => {
      const stream = freshStream();
      await store.client.appendToStream(stream, numbered(3));
      await store.client.deleteStream(stream);
      const result = await store.client.appendToStream(stream, numbered(2), { expectedRevision });
      expect(result.nextExpectedRevision).toBe(4n);
      // Readers may find it a moment later.
      while (await isMissing(stream));
      expect(revisions(await collect(store.client.readStream(stream)))).toEqual([3n, 4n]);
      const backwards = store.client.readStream(stream, { direction: 'backwards', fromRevision: 'end' });
      expect(revisions(await collect(backwards))).toEqual([4n, 3n]);
    },
  );

  it('is revived by new metadata, which hides the events from before', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(3));
    await store.client.deleteStream(stream);
    await store.client.setStreamMetadata(stream, { owner: 'us' });
    // A second event of metadata follows, maybe a moment later.
    let { metadata } = await store.client.getStreamMetadata(stream);
    while (metadata?.truncateBefore !== 3) ({ metadata } = await store.client.getStreamMetadata(stream));
    expect(metadata).toEqual({ owner: 'us', truncateBefore: 3 });
    expect(await collect(store.client.readStream(stream))).toEqual([]);
    await store.client.appendToStream(stream, numbered(1), { expectedRevision: 2n });
    while (await isMissing(stream));
    expect(revisions(await collect(store.client.readStream(stream)))).toEqual([3n]);
  });

  it('does not exist for stream_exists', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, one());
    await store.client.deleteStream(stream);
    const error = await rejection(store.client.appendToStream(stream, one(), STREAM_EXISTS));
    expect(error).toMatchObject({ type: 'stream-deleted' });
  });

  it('is not deleted when the expected revision is wrong', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(3));
    const error = await rejection(store.client.deleteStream(stream, { expectedRevision: 1n }));
    expect(error).toMatchObject({
      type: 'wrong-expected-version',
      streamName: stream,
      expectedVersion: 1n,
      actualVersion: 2n,
    });
    expect(await collect(store.client.readStream(stream))).toHaveLength(3);
  });

  it('can be deleted and revived again and again', async () => {
    const stream = freshStream();
    for (let round = 0; round < 3; round++) {
      await store.client.appendToStream(stream, numbered(2));
      await store.client.deleteStream(stream);
    }
    await store.client.appendToStream(stream, one());
    while (await isMissing(stream));
    expect(revisions(await collect(store.client.readStream(stream)))).toEqual([6n]);
  });
});

describe('a tombstoned stream', () => {
  it('fails reads and appends as deleted, permanently', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, one());
    const { position } = await store.client.tombstoneStream(stream, { expectedRevision: 0n });
    expect(position?.commit).toBeGreaterThan(0n);
    expect(await rejection(collect(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-deleted',
    });
    for (const expectedRevision of ['any', 'no_stream', 'stream_exists', 0n] as const) {
      const error = await rejection(store.client.appendToStream(stream, one(), { expectedRevision }));
      expect(error).toMatchObject({ type: 'stream-deleted', streamName: stream });
    }
    expect(await rejection(store.client.tombstoneStream(stream))).toMatchObject({ type: 'stream-deleted' });
    expect(await rejection(store.client.deleteStream(stream))).toMatchObject({ type: 'stream-deleted' });
  });

  it('may be one that never existed', async () => {
    const stream = freshStream();
    await store.client.tombstoneStream(stream);
    expect(await rejection(store.client.appendToStream(stream, one()))).toMatchObject({
      type: 'stream-deleted',
    });
  });

  it('is not tombstoned when the expected revision is wrong', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(2));
    const error = await rejection(store.client.tombstoneStream(stream, { expectedRevision: 0n }));
    expect(error).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 0n, actualVersion: 1n });
    expect(await collect(store.client.readStream(stream))).toHaveLength(2);
  });

  it('ends the subscriptions to it', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, one());
    const ended = rejection(collect(store.client.subscribeToStream(stream)));
    await store.client.tombstoneStream(stream);
    expect(await ended).toMatchObject({ type: 'stream-deleted' });
  });
});

/** The client sends it, but its types do not know it. */
const STREAM_EXISTS = { expectedRevision: 'stream_exists' as 'any' };

describe('a stream that never existed', () => {
  it.each(['any', 'no_stream', 0n] as const)(
    'cannot be soft-deleted (%s), and gets no metadata',
    async (expectedRevision) => {
      const stream = freshStream();
      const error = await rejection(store.client.deleteStream(stream, { expectedRevision }));
      expect(error).toMatchObject({ type: 'wrong-expected-version', streamName: stream });
      expect(await rejection(collect(store.client.readStream(`$$${stream}`)))).toMatchObject({
        type: 'stream-not-found',
      });
    },
  );

  it.each(['any', 'no_stream'] as const)('can be tombstoned (%s)', async (expectedRevision) => {
    const stream = freshStream();
    await store.client.tombstoneStream(stream, { expectedRevision });
    expect(await rejection(store.client.appendToStream(stream, one()))).toMatchObject({
      type: 'stream-deleted',
    });
  });

  it('cannot be tombstoned with stream_exists', async () => {
    const tombstone = store.client.tombstoneStream(freshStream(), STREAM_EXISTS);
    expect(await rejection(tombstone)).toMatchObject({ type: 'wrong-expected-version' });
  });
});

describe('a soft-deleted stream that is removed again', () => {
  const deleted = async (): Promise<string> => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(2));
    await store.client.deleteStream(stream);
    return stream;
  };

  it('does not exist, so a tombstone with stream_exists fails as deleted', async () => {
    const tombstone = store.client.tombstoneStream(await deleted(), STREAM_EXISTS);
    expect(await rejection(tombstone)).toMatchObject({ type: 'stream-deleted' });
  });

  it('is deleted or tombstoned with no_stream', async () => {
    const stream = await deleted();
    await store.client.deleteStream(stream, { expectedRevision: 'no_stream' });
    await store.client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
    expect(await rejection(store.client.appendToStream(stream, one()))).toMatchObject({
      type: 'stream-deleted',
    });
  });
});
