import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { eventId, uuid5, uuidFromHash } from './event-id.js';

describe('event ids', () => {
  it('never change: a retry must find the recorded ids', () => {
    expect(uuid5('a')).toBe('18bb2087-cad6-5a53-bdc8-ef6f3647a4d1');
    expect(uuid5('a', 'b')).toBe('ca1381a9-c288-54bb-9d3a-bb4a2d0a76d8');
    expect(eventId('reading-1', 'request:req_1', 0)).toBe('3ccbdb17-188b-5d6f-b9f7-598222311ca0');
    expect(uuidFromHash(createHash('sha256').update('a').digest())).toBe(
      'ca978112-ca1b-8dca-bac2-31b39a23dc4d',
    );
  });

  it('differ by stream, intent and index in the decision', () => {
    const ids = ['tally-1', 'tally-2'].flatMap((stream) =>
      ['x', 'y'].flatMap((intent) => [0, 1].map((index) => eventId(stream, intent, index))),
    );
    expect(new Set(ids).size).toBe(8);
    expect(uuid5('ab', 'c')).not.toBe(uuid5('a', 'bc'));
  });

  it('carry the version and the variant of RFC 9562', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ minLength: 16, maxLength: 32 }), (part, hash) => {
        expect(uuid5(part)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(uuidFromHash(hash)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  it('do not modify the hash they are derived from', () => {
    const hash = new Uint8Array(32).fill(255);
    uuidFromHash(hash);
    expect(hash).toEqual(new Uint8Array(32).fill(255));
  });
});
