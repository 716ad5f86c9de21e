import { connect, type EventStoreDBClient } from './support/client.js';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

describe('a repeated append', () => {
  // As EventStoreDB's: a busy disk takes longer than a shorter one.
  const store = storeUnderTest({ commitTimeoutMs: 2_000 });

  /** A client of its own, opened on first use. */
  const connectLater = (): (() => EventStoreDBClient) => {
    let client: EventStoreDBClient | undefined;
    return () => (client ??= connect(store.connectionString));
  };

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

  describe('while the first append is under way', () => {
    const clients = Array.from({ length: 2 }, () => connectLater());
    afterAll(() => Promise.all(clients.map((client) => client().dispose())));

    it.each(['no_stream', 'any'] as const)(
      'with %s is dropped, and answered as timed out: written once, as the next attempt shows',
      async (expectedRevision) => {
        let late: unknown[] = [];
        // A fast server may have written the first one before it looks at the second one.
        while (late.length === 0) {
          const stream = freshStream();
          const event = one();
          const append = (n: number) => clients[n % 2]!().appendToStream(stream, event, { expectedRevision });
          const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => append(n)));
          const first = outcomes.find((outcome) => outcome.status === 'fulfilled')?.value;
          late = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
          expect(first).toMatchObject({ success: true, nextExpectedRevision: 0n });
          for (const error of late) expect(error).toMatchObject({ type: 'deadline-exceeded' });
          expect(await append(0)).toMatchObject({ nextExpectedRevision: 0n });
          expect(await append(1)).toMatchObject({ nextExpectedRevision: 0n });
          expect(await collect(store.client.readStream(stream))).toHaveLength(1);
        }
      },
    );
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
