import { describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

const streamOf = async (length: number): Promise<string> => {
  const stream = freshStream();
  await store.client.appendToStream(stream, numbered(length));
  return stream;
};

const read = async (stream: string, backwards = false) =>
  revisions(
    await collect(
      store.client.readStream(stream, backwards ? { direction: 'backwards', fromRevision: 'end' } : {}),
    ),
  );

/** Readers may find a revived stream a moment later. */
const readOnceFound = async (stream: string): Promise<unknown> => {
  for (;;) {
    const found = await read(stream).catch(() => null);
    if (found) return found;
  }
};

describe('the metadata of a stream', () => {
  it('is what was set last, and guarded by its own revision', async () => {
    const stream = freshStream();
    expect((await store.client.getStreamMetadata(stream)).metadata).toBeUndefined();
    await store.client.setStreamMetadata(stream, { maxCount: 5 }, { expectedRevision: 'no_stream' });
    const again = store.client.setStreamMetadata(stream, { maxCount: 6 }, { expectedRevision: 'no_stream' });
    expect(await rejection(again)).toMatchObject({ type: 'wrong-expected-version' });
    await store.client.setStreamMetadata(stream, { truncateBefore: 2, custom: 'kept' });
    const { metadata } = await store.client.getStreamMetadata(stream);
    expect(metadata).toEqual({ truncateBefore: 2, custom: 'kept' });
  });

  it.each([
    ['maxCount', { maxCount: 3 }, [7n, 8n, 9n], [8n, 9n, 10n]],
    ['truncateBefore', { truncateBefore: 8 }, [8n, 9n], [8n, 9n, 10n]],
    ['truncateBefore after all of them', { truncateBefore: 100 }, [], []],
  ] as const)('hides events by %s, in both directions', async (_, metadata, before, after) => {
    const stream = await streamOf(10);
    await store.client.setStreamMetadata(stream, metadata);
    expect(await read(stream)).toEqual(before);
    expect(await read(stream, true)).toEqual([...before].reverse());
    await store.client.appendToStream(stream, one(), { expectedRevision: 9n });
    expect(await read(stream)).toEqual(after);
  });
});

describe('a soft-deleted stream', () => {
  it('is not found by reads, and not deleted at a wrong revision', async () => {
    const stream = await streamOf(3);
    const wrong = store.client.deleteStream(stream, { expectedRevision: 1n });
    expect(await rejection(wrong)).toMatchObject({
      type: 'wrong-expected-version',
      streamName: stream,
      expectedVersion: 1n,
      actualVersion: 2n,
    });
    expect(await read(stream)).toHaveLength(3);
    await store.client.deleteStream(stream, { expectedRevision: 2n });
    for (const backwards of [false, true])
      expect(await rejection(read(stream, backwards))).toMatchObject({ type: 'stream-not-found' });
  });

  it.each(['any', 'no_stream', 2n] as const)(
    'is revived by an append with %s, which continues the numbering',
    async (expectedRevision) => {
      const stream = await streamOf(3);
      await store.client.deleteStream(stream);
      const result = await store.client.appendToStream(stream, numbered(2), { expectedRevision });
      expect(result.nextExpectedRevision).toBe(4n);
      expect(await readOnceFound(stream)).toEqual([3n, 4n]);
      expect(await read(stream, true)).toEqual([4n, 3n]);
      // The metadata may follow the append after a moment.
      let { metadata } = await store.client.getStreamMetadata(stream);
      while (metadata?.truncateBefore !== 3) ({ metadata } = await store.client.getStreamMetadata(stream));
    },
  );
});

describe('a tombstoned stream', () => {
  it('fails reads and appends as deleted, permanently', async () => {
    const stream = await streamOf(1);
    const wrong = store.client.tombstoneStream(stream, { expectedRevision: 1n });
    expect(await rejection(wrong)).toMatchObject({ type: 'wrong-expected-version', actualVersion: 0n });
    const { position } = await store.client.tombstoneStream(stream, { expectedRevision: 0n });
    expect(position?.commit).toBeGreaterThan(0n);
    expect(await rejection(read(stream))).toMatchObject({ type: 'stream-deleted' });
    for (const expectedRevision of ['any', 'no_stream', 0n] as const) {
      const error = await rejection(store.client.appendToStream(stream, one(), { expectedRevision }));
      expect(error).toMatchObject({ type: 'stream-deleted', streamName: stream });
    }
    expect(await rejection(store.client.tombstoneStream(stream))).toMatchObject({ type: 'stream-deleted' });
    expect(await rejection(store.client.deleteStream(stream))).toMatchObject({ type: 'stream-deleted' });
  });

  it('may be one that never existed, or was soft-deleted', async () => {
    const [missing, deleted] = [freshStream(), await streamOf(2)];
    await store.client.deleteStream(deleted);
    for (const stream of [missing, deleted]) {
      await store.client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
      expect(await rejection(store.client.appendToStream(stream, one()))).toMatchObject({
        type: 'stream-deleted',
      });
    }
  });
});
