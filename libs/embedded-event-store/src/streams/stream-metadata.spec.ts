import { describe, expect, it } from '@jest/globals';
import { decodeHead, encodeHead, MAX_LIMIT, retentionOf } from './stream-head.js';

const retention = (text: string) => retentionOf(Buffer.from(text));

describe('retentionOf', () => {
  it('reads the mark of a deleted stream, beyond the integer range of JSON.parse', () => {
    expect(retention('{"$tb":9223372036854775807}').truncateBefore).toBe(MAX_LIMIT);
  });

  it.each(['', 'no json', '[]', 'null', '{"$maxCount":"3"}', '{"$maxCount":-1}', '{"$maxCount":0}'])(
    'reads no limit from %j',
    (text) => {
      expect(retention(text)).toEqual({});
    },
  );
});

describe('a stored head', () => {
  it('names the stream whose head was damaged', () => {
    const bytes = encodeHead({ name: 'reading-1', number: 4, last: 7n, retention: {} });
    const damaged = Buffer.from(bytes);
    damaged[15]! ^= 1;
    expect(() => decodeHead('reading-1', damaged)).toThrow(/head of the stream reading-1 .* damaged/);
    expect(() => decodeHead('reading-2', bytes)).toThrow(/reading-2/);
  });
});
