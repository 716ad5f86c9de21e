import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { open, seal, SealBroken } from '../crypto/sealing.js';
import { keyedDigest, type SubjectKey } from '../crypto/subject-keys.js';
import { openPadded, sealPadded } from './padded-seal.js';
import { pad, paddedLength, unpad } from './padding.js';

const keyOf = (byte: number): SubjectKey => {
  const key = Buffer.alloc(32, byte);
  return {
    seal: (context, plaintext) => seal(key, context, plaintext),
    open: (context, sealed) => open(key, context, sealed),
    digest: (purpose, bytes) => keyedDigest(key, purpose, bytes),
  };
};
const KEY = keyOf(1);

describe('padding', () => {
  it('returns exactly the same bytes, including zeros and marks at their end', () => {
    const bytes = fc
      .array(fc.constantFrom(0x00, 0x80, 0x41), { maxLength: 40 })
      .map((each) => Uint8Array.from(each));
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 20 }), (given, step) => {
        const padded = pad(given, step);
        expect(padded.length % step).toBe(0);
        expect(padded).toHaveLength(paddedLength(given.length, step));
        expect([...unpad(padded)]).toEqual([...given]);
      }),
    );
  });

  it('refuses what was never padded', () => {
    for (const bytes of ['', 'text', '\u0000\u0000'])
      expect(() => unpad(Buffer.from(bytes))).toThrow(RangeError);
  });
});

describe('a padded seal', () => {
  it('has the same length for everything within a step', () => {
    const lengths = ['Bo', 'Wolfeschlegelsteinhausen', 'x'.repeat(511)].map(
      (text) => sealPadded(KEY, 'input', 512, Buffer.from(text)).length,
    );
    expect(new Set(lengths)).toEqual(new Set([512 + 28]));
    expect(sealPadded(KEY, 'input', 512, Buffer.alloc(512))).toHaveLength(1_024 + 28);
  });

  it('opens to what was sealed', () => {
    const secret = Buffer.from('1815-12-10');
    expect(openPadded(KEY, 'input', sealPadded(KEY, 'input', 512, secret))).toEqual(secret);
  });

  it('does not open with another key or context', () => {
    const sealed = sealPadded(KEY, 'input', 512, Buffer.from('x'));
    expect(() => openPadded(keyOf(2), 'input', sealed)).toThrow(SealBroken);
    expect(() => openPadded(KEY, 'result', sealed)).toThrow(SealBroken);
    expect(() => KEY.open('input', sealed)).toThrow(SealBroken);
  });
});

describe('a digest under the key of a subject', () => {
  const hex = (key: SubjectKey, purpose: string, text: string) =>
    key.digest(purpose, Buffer.from(text)).toString('hex');

  it('never changes', () => {
    expect(hex(KEY, 'artifact', 'Ada')).toBe(
      'da65bbb65064182af66f4cb472b18a68ff08bafe6428e2e1ccbd4de14816f3b6',
    );
  });

  it('distinguishes keys, purposes and bytes', () => {
    const digests = [
      hex(KEY, 'artifact', 'Ada'),
      hex(KEY, 'artifact', 'Ida'),
      hex(KEY, 'other', 'Ada'),
      hex(keyOf(2), 'artifact', 'Ada'),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });
});
