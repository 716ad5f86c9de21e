import { jsonEvent } from './support/client.js';
import { describe, expect, it } from '@jest/globals';
import { binaryOf, collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

describe('append', () => {
  const store = storeUnderTest();

  it('numbers the events of a stream from 0 and answers with the last revision and its position', async () => {
    const stream = freshStream();
    const first = await store.client.appendToStream(stream, numbered(3), { expectedRevision: 'no_stream' });
    const second = await store.client.appendToStream(stream, one(), { expectedRevision: 2n });

    expect(first).toMatchObject({ success: true, nextExpectedRevision: 2n });
    expect(second).toMatchObject({ success: true, nextExpectedRevision: 3n });
    expect(second.position!.commit).toBeGreaterThan(first.position!.commit);
    const events = await collect(store.client.readStream(stream));
    expect(revisions(events)).toEqual([0n, 1n, 2n, 3n]);
    expect(events.at(-1)?.event?.position).toEqual(second.position);
  });

  it('keeps id, type, data and metadata of events exactly, and stamps them with its time', async () => {
    const stream = freshStream();
    const event = jsonEvent({
      type: 'Ünusual',
      data: { text: 'naïve ☃ 𝒳', nested: [1, { deep: null }], big: '9007199254740993' },
      metadata: { correlationId: 'c-1', $causationId: 'c-0' },
    });
    const before = Date.now();
    await store.client.appendToStream(stream, event);
    const after = Date.now();
    const [read] = await collect(store.client.readStream(stream));
    const { id, type, data, metadata } = event;
    expect(read?.event).toMatchObject({ streamId: stream, id, type, data, metadata, isJson: true });
    const created = read?.event?.created.getTime() ?? 0;
    expect(created).toBeGreaterThanOrEqual(before - 1_000);
    expect(created).toBeLessThanOrEqual(after + 1_000);
  });

  it('accepts thousands of events in one append, atomically', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(3_000), { expectedRevision: 'no_stream' });
    await rejection(store.client.appendToStream(stream, numbered(3_000), { expectedRevision: 'no_stream' }));
    expect(await collect(store.client.readStream(stream))).toHaveLength(3_000);
  });

  it.each([
    ['has moved on', 3, 0n, 2n],
    ['is not there', 0, 4n, 'no_stream'],
    ['is there', 1, 'no_stream', 0n],
    ['is behind', 1, 1n, 0n],
  ] as const)('reports the revision of a stream that %s', async (_, length, expected, actual) => {
    const stream = freshStream();
    if (length > 0) await store.client.appendToStream(stream, numbered(length));
    const append = store.client.appendToStream(stream, one(), { expectedRevision: expected });
    expect(await rejection(append)).toMatchObject({
      type: 'wrong-expected-version',
      streamName: stream,
      expectedVersion: expected,
      actualVersion: actual,
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
    const halves = [binaryOf(512 * 1024), binaryOf(512 * 1024 + 1)];
    const error = await rejection(store.client.appendToStream(stream, halves));
    expect(error).toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1024 * 1024 });
    await store.client.appendToStream(stream, binaryOf(1024 * 1024 - 10_000));
    expect(await collect(store.client.readStream(stream))).toHaveLength(1);
  });
});

describe('a repeated append', () => {
  // As EventStoreDB's: a busy disk takes longer than a shorter one.
  const store = storeUnderTest({ commitTimeoutMs: 2_000 });

  it.each(['no_stream', 1n] as const)('at %s returns the first result, and writes nothing', async (at) => {
    const stream = freshStream();
    if (at === 1n) await store.client.appendToStream(stream, numbered(2), { expectedRevision: 'no_stream' });
    const events = numbered(3);
    const first = await store.client.appendToStream(stream, events, { expectedRevision: at });
    await store.client.appendToStream(stream, one(), { expectedRevision: first.nextExpectedRevision });
    const again = await store.client.appendToStream(stream, events, { expectedRevision: at });
    expect(again).toEqual(first);
    expect(await collect(store.client.readStream(stream))).toHaveLength(at === 1n ? 6 : 4);
  });

  it('is dropped while the first one is under way, and answered as timed out: the next attempt shows it', async () => {
    const clients = [store.another(), store.another()] as const;
    let late: unknown[] = [];
    // A fast server may have written the first one before it looks at the second one.
    while (late.length === 0) {
      const stream = freshStream();
      const event = one();
      const append = (n: number) =>
        clients[n % 2]!.appendToStream(stream, event, { expectedRevision: 'no_stream' });
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => append(n)));
      const first = outcomes.find((outcome) => outcome.status === 'fulfilled')?.value;
      late = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(first).toMatchObject({ success: true, nextExpectedRevision: 0n });
      for (const error of late) expect(error).toMatchObject({ type: 'deadline-exceeded' });
      expect(await append(0)).toMatchObject({ nextExpectedRevision: 0n });
      expect(await append(1)).toMatchObject({ nextExpectedRevision: 0n });
      expect(await collect(store.client.readStream(stream))).toHaveLength(1);
    }
  });

  it.each([
    ['other events stand there', 0],
    ['only part of it was written before', 2],
  ])('conflicts when %s', async (_, known) => {
    const stream = freshStream();
    const events = numbered(3);
    const before = known > 0 ? events.slice(0, known) : numbered(2);
    await store.client.appendToStream(stream, before, { expectedRevision: 'no_stream' });
    const again = store.client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
    expect(await rejection(again)).toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
    expect(await collect(store.client.readStream(stream))).toHaveLength(2);
  });
});
