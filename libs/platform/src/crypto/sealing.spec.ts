import { describe, expect, it } from '@jest/globals';
import { Digester } from './digest.js';
import { SealBroken, open, seal } from './sealing.js';

const KEY = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const SECRET = Buffer.from('Ada Lovelace, née Byron');

const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = copy[at]! ^ 1;
  return copy;
};

describe('sealing', () => {
  it('opens with the same key and context, and hides what is inside', () => {
    const sealed = seal(KEY, 'input', SECRET);
    expect(open(KEY, 'input', sealed)).toEqual(SECRET);
    expect(sealed.includes('Lovelace')).toBe(false);
    expect(seal(KEY, 'input', SECRET)).not.toEqual(sealed);
    expect(sealed).toHaveLength(SECRET.length + 12 + 16);
    expect(open(KEY, '', seal(KEY, '', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('does not open when any byte was changed, or the end is another, or with another context or key', () => {
    const sealed = seal(KEY, 'input', SECRET);
    for (let at = 0; at < sealed.length; at += 1) {
      expect(() => open(KEY, 'input', changed(sealed, at))).toThrow(SealBroken);
      expect(() => open(KEY, 'input', sealed.subarray(0, at))).toThrow(SealBroken);
    }
    expect(() => open(KEY, 'input', Buffer.concat([sealed, Buffer.from([0])]))).toThrow(SealBroken);
    expect(() => open(KEY, 'result', sealed)).toThrow(SealBroken);
    expect(() => open(OTHER, 'input', sealed)).toThrow(SealBroken);
  });
});

describe('Digester', () => {
  const digester = new Digester(KEY.toString('base64'));
  const hex = (...parts: [string, ...string[]]) => digester.digest(...parts).toString('hex');

  it('is HMAC-SHA-256 of the purpose and the parts, and never changes', () => {
    expect(hex('reading-id', 'ws_1', 'key')).toBe(
      '40cc66d0bc7acf724947e8bc4b20542d08749ff97e71abd1807b835324c02012',
    );
  });

  it('distinguishes purposes, parts and keys', () => {
    const digests = [
      hex('a', 'b', 'c'),
      hex('a', 'bc'),
      hex('ab', 'c'),
      hex('a', 'c', 'b'),
      hex('a', 'b'),
      new Digester(OTHER.toString('base64')).digest('a', 'b', 'c').toString('hex'),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });
});
