import { beforeAll, describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

describe('a read of a stream', () => {
  const store = storeUnderTest();
  const stream = freshStream();

  beforeAll(async () => {
    await store.client.appendToStream(stream, numbered(10));
  });

  it('forwards includes the revision it starts at', async () => {
    const events = await collect(store.client.readStream(stream, { fromRevision: 7n }));
    expect(revisions(events)).toEqual([7n, 8n, 9n]);
  });

  it('forwards stops after the maximum count', async () => {
    const events = await collect(store.client.readStream(stream, { fromRevision: 2n, maxCount: 3 }));
    expect(revisions(events)).toEqual([2n, 3n, 4n]);
  });

  it('forwards beyond the last event is empty', async () => {
    expect(await collect(store.client.readStream(stream, { fromRevision: 10n }))).toEqual([]);
    expect(await collect(store.client.readStream(stream, { fromRevision: 2n ** 63n - 1n }))).toEqual([]);
  });

  it('backwards starts with the last event', async () => {
    const events = await collect(
      store.client.readStream(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 3 }),
    );
    expect(revisions(events)).toEqual([9n, 8n, 7n]);
  });

  it('backwards includes the revision it starts at and ends with the first event', async () => {
    const events = await collect(
      store.client.readStream(stream, { direction: 'backwards', fromRevision: 2n }),
    );
    expect(revisions(events)).toEqual([2n, 1n, 0n]);
  });

  it('of a stream that does not exist fails as not found', async () => {
    const missing = freshStream();
    const error = await rejection(collect(store.client.readStream(missing)));
    expect(error).toMatchObject({ type: 'stream-not-found' });
    expect(error.streamName).toBe(missing);
  });

  it('of many events returns all of them in order', async () => {
    const long = freshStream();
    for (let n = 0; n < 4; n++) await store.client.appendToStream(long, numbered(600));
    const events = await collect(store.client.readStream(long));
    expect(revisions(events)).toEqual(Array.from({ length: 2_400 }, (_, n) => BigInt(n)));
  });

  it('finds every event in its own stream among interleaved appends', async () => {
    const streams = Array.from({ length: 8 }, () => freshStream());
    for (let round = 0; round < 10; round++) {
      await Promise.all(streams.map((name) => store.client.appendToStream(name, one())));
    }
    for (const name of streams) {
      const events = await collect(store.client.readStream(name));
      expect(events.map(({ event }) => event?.streamId)).toEqual(Array(10).fill(name));
    }
  });

  it('treats names that differ by a suffix as different streams', async () => {
    const name = freshStream();
    await store.client.appendToStream(`${name}1`, numbered(2));
    await store.client.appendToStream(name, one());
    expect(await collect(store.client.readStream(name))).toHaveLength(1);
    expect(await collect(store.client.readStream(`${name}1`))).toHaveLength(2);
  });
});

describe('a read of $all', () => {
  const store = storeUnderTest();

  it('begins with events of the system', async () => {
    const [first] = await collect(store.client.readAll({ maxCount: 1 }));
    expect(first?.event).toMatchObject({
      streamId: expect.stringMatching(/^\$/),
      type: expect.stringMatching(/^\$/),
    });
  });

  it('returns the events of all streams in position order', async () => {
    const streams = [freshStream(), freshStream()];
    for (const name of streams) await store.client.appendToStream(name, numbered(3));
    const events = await collect(store.client.readAll());
    const positions = events.map(({ event }) => event?.position.commit ?? -1n);
    expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
    const names = events.map(({ event }) => event?.streamId).filter((name) => name && streams.includes(name));
    expect(names).toEqual([
      ...Array<string>(3).fill(streams[0] ?? ''),
      ...Array<string>(3).fill(streams[1] ?? ''),
    ]);
  });

  it('forwards includes the event at the position it starts at', async () => {
    const { position } = await store.client.appendToStream(freshStream(), one());
    await store.client.appendToStream(freshStream(), one());
    const events = await collect(store.client.readAll({ fromPosition: position ?? 'start', maxCount: 2 }));
    expect(events[0]?.event?.position).toEqual(position);
    expect(events[1]?.event?.position.commit).toBeGreaterThan(position?.commit ?? 0n);
  });

  it('backwards from a position starts with the event before it', async () => {
    const stream = freshStream();
    const { position: first } = await store.client.appendToStream(stream, one());
    const { position: second } = await store.client.appendToStream(stream, one());
    const [event] = await collect(
      store.client.readAll({ direction: 'backwards', fromPosition: second ?? 'end', maxCount: 1 }),
    );
    expect(event?.event?.position).toEqual(first);
  });

  it('backwards from the end starts with the last event', async () => {
    const { position } = await store.client.appendToStream(freshStream(), one());
    const [event] = await collect(
      store.client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 }),
    );
    expect(event?.event?.position).toEqual(position);
  });

  it('from a position far beyond the end is empty', async () => {
    const far = { commit: 2n ** 62n, prepare: 2n ** 62n };
    expect(await collect(store.client.readAll({ fromPosition: far }))).toEqual([]);
  });
});
