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
