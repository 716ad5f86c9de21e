import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import { collect, type ReadOptions } from './event-store.js';
import { newEvents, newStream, storeUnderTest } from './testing/store-under-test.js';

const under = storeUnderTest();

/** A stream of five events. */
const written = async (): Promise<string> => {
  const stream = newStream();
  await under.store.append(stream, 'no_stream', newEvents(5));
  return stream;
};

const withMetadata = async (limits: object, stream?: string): Promise<string> => {
  const limited = stream ?? (await written());
  const [event] = newEvents(1);
  const metadata = { ...event!, id: randomUUID(), type: '$metadata', data: limits };
  await under.store.append(`$$${limited}`, 'no_stream', [metadata]);
  return limited;
};

const read = (stream: string, options?: ReadOptions): Promise<readonly StoredEvent[]> =>
  collect(under.store.read(stream, options));

const WAYS: readonly (readonly [string, ReadOptions])[] = [
  ['forwards', {}],
  ['backwards', { direction: 'backwards' }],
  ['with a limit', { limit: 2 }],
];

describe.each(WAYS)('a stream with a hidden beginning, read %s,', (way, options) => {
  it.each([
    ['truncated', { $tb: 3 }],
    ['limited to its last events', { $maxCount: 2 }],
    ['truncated after its end', { $tb: 100 }],
    // EventStoreDB writes 2^63 - 1, which no number of JavaScript is.
    ['deleted', { $tb: 2 ** 62 }],
  ])('is corrupt when it was %s', async (_, limits) => {
    const stream = await withMetadata(limits);
    await expect(read(stream, options)).rejects.toThrow(CorruptEvent);
    await expect(read(stream, options)).rejects.toThrow(`${stream}@0`);
  });

  it('is read when it was truncated before an event with which it may begin', async () => {
    const stream = await written();
    const [last] = newEvents(1);
    await under.store.append(stream, 4n, [{ ...last!, type: 'Carried', data: { total: 0, refs: [] } }]);
    await withMetadata({ $tb: 5 }, stream);
    expect((await read(stream, options)).map(({ type }) => type)).toEqual(['Carried']);
  });

  it('is read when nothing is hidden, although it has metadata', async () => {
    const whole = await withMetadata({ $maxCount: 100, note: 'ours' });
    expect(await read(whole, options)).toHaveLength(way === 'with a limit' ? 2 : 5);
    expect(await read(await withMetadata({ note: 'ours' }, newStream()), options)).toEqual([]);
  });
});

it('The end of a stream is read, although its beginning is hidden', async () => {
  const stream = await withMetadata({ $tb: 3 });
  expect(await read(stream, { from: 3n })).toHaveLength(2);
  expect(await read(stream, { direction: 'backwards', limit: 2 })).toHaveLength(2);
});
