import { binaryEvent, jsonEvent } from './support/client.js';
import { describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

describe('append', () => {
  const store = storeUnderTest();

  it('numbers the events of a stream from 0 and answers with the last revision and its position', async () => {
    const stream = freshStream();
    const first = await store.client.appendToStream(stream, numbered(3), { expectedRevision: 'no_stream' });
    const second = await store.client.appendToStream(stream, one(), { expectedRevision: 2n });

    expect(first).toMatchObject({ success: true, nextExpectedRevision: 2n });
    expect(second).toMatchObject({ success: true, nextExpectedRevision: 3n });
    const events = await collect(store.client.readStream(stream));
    expect(revisions(events)).toEqual([0n, 1n, 2n, 3n]);
    expect(events.at(-1)?.event?.position).toEqual(second.position);
  });

  it('gives later events greater positions', async () => {
    const positions: bigint[] = [];
    for (let n = 0; n < 5; n++) {
      const { position } = await store.client.appendToStream(freshStream(), one());
      positions.push(position?.commit ?? -1n);
    }
    expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(positions).size).toBe(5);
  });

  it('keeps id, type, data and metadata of JSON events exactly', async () => {
    const stream = freshStream();
    const event = jsonEvent({
      type: 'Ünusual',
      data: { text: 'naïve ☃ 𝒳', nested: [1, { deep: null }], big: '9007199254740993' },
      metadata: { correlationId: 'c-1', $causationId: 'c-0' },
    });
    await store.client.appendToStream(stream, event);
    const [read] = await collect(store.client.readStream(stream));
    expect(read?.event).toMatchObject({
      streamId: stream,
      id: event.id,
      type: event.type,
      data: event.data,
      metadata: event.metadata,
      isJson: true,
    });
  });

  it('keeps the bytes of binary events exactly', async () => {
    const stream = freshStream();
    const bytes = Uint8Array.from({ length: 1_000 }, (_, n) => n % 256);
    await store.client.appendToStream(stream, binaryEvent({ type: 'Blob', data: bytes, metadata: bytes }));
    const [read] = await collect(store.client.readStream(stream));
    expect(read?.event?.isJson).toBe(false);
    expect(Buffer.from(read?.event?.data as Uint8Array)).toEqual(Buffer.from(bytes));
    expect(Buffer.from(read?.event?.metadata as Uint8Array)).toEqual(Buffer.from(bytes));
  });

  it('stamps events with the time of the append', async () => {
    const stream = freshStream();
    const before = Date.now();
    await store.client.appendToStream(stream, one());
    const after = Date.now();
    const [read] = await collect(store.client.readStream(stream));
    const created = read?.event?.created.getTime() ?? 0;
    expect(created).toBeGreaterThanOrEqual(before - 1_000);
    expect(created).toBeLessThanOrEqual(after + 1_000);
  });

  it('accepts thousands of events in one append, atomically', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(3_000), { expectedRevision: 'no_stream' });
    await rejection(store.client.appendToStream(stream, numbered(3_000), { expectedRevision: 'no_stream' }));
    expect(await collect(store.client.readStream(stream))).toHaveLength(3_000);
  }, 60_000);

  describe('with a wrong expected revision', () => {
    it('reports the current revision when the stream has moved on', async () => {
      const stream = freshStream();
      await store.client.appendToStream(stream, numbered(3));
      const error = await rejection(store.client.appendToStream(stream, one(), { expectedRevision: 0n }));
      expect(error).toMatchObject({
        type: 'wrong-expected-version',
        streamName: stream,
        expectedVersion: 0n,
        actualVersion: 2n,
      });
    });

    it('reports that there is no stream when a revision was expected', async () => {
      const stream = freshStream();
      const error = await rejection(store.client.appendToStream(stream, one(), { expectedRevision: 4n }));
      expect(error).toMatchObject({
        type: 'wrong-expected-version',
        expectedVersion: 4n,
        actualVersion: 'no_stream',
      });
    });

    it('refuses no_stream for a stream that exists', async () => {
      const stream = freshStream();
      await store.client.appendToStream(stream, one());
      const error = await rejection(
        store.client.appendToStream(stream, one(), { expectedRevision: 'no_stream' }),
      );
      expect(error).toMatchObject({
        type: 'wrong-expected-version',
        expectedVersion: 'no_stream',
        actualVersion: 0n,
      });
    });

    it('refuses stream_exists for a stream that does not', async () => {
      const error = await rejection(
        store.client.appendToStream(freshStream(), one(), { expectedRevision: 'stream_exists' }),
      );
      expect(error).toMatchObject({ type: 'wrong-expected-version', actualVersion: 'no_stream' });
    });

    it('refuses a revision ahead of the stream', async () => {
      const stream = freshStream();
      await store.client.appendToStream(stream, one());
      const error = await rejection(store.client.appendToStream(stream, one(), { expectedRevision: 1n }));
      expect(error).toMatchObject({ type: 'wrong-expected-version', actualVersion: 0n });
    });
  });

  it('lets exactly one of many writers with the same expected revision win', async () => {
    const stream = freshStream();
    const attempts = Array.from({ length: 20 }, () =>
      store.client.appendToStream(stream, one(), { expectedRevision: 'no_stream' }),
    );
    const results = await Promise.allSettled(attempts);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await collect(store.client.readStream(stream))).toHaveLength(1);
  });

  it('still answers appends of the same connection after one has failed', async () => {
    const stream = freshStream();
    const outcomes = await Promise.allSettled([
      store.client.appendToStream(stream, one(), { expectedRevision: 5n }),
      store.client.appendToStream(stream, one(), { expectedRevision: 'no_stream' }),
      store.client.appendToStream(freshStream(), one(), { expectedRevision: 'no_stream' }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('refuses events that exceed the maximum size of one append together, and accepts slightly less', async () => {
    const stream = freshStream();
    const ofSize = (bytes: number) => binaryEvent({ type: 'Blob', data: Buffer.alloc(bytes) });
    const halves = [ofSize(512 * 1024), ofSize(512 * 1024 + 1)];
    const error = await rejection(store.client.appendToStream(stream, halves));
    expect(error).toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1024 * 1024 });
    await store.client.appendToStream(stream, ofSize(1024 * 1024 - 10_000));
    expect(await collect(store.client.readStream(stream))).toHaveLength(1);
  });

  it('does not write what arrives after its deadline', async () => {
    const stream = freshStream();
    const error = await rejection(store.client.appendToStream(stream, one(), { deadline: -1_000 }));
    expect(error).toMatchObject({ type: 'deadline-exceeded' });
    expect(await rejection(collect(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-not-found',
    });
  });
});
