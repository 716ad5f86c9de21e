import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { open, seal, SealBroken } from '../crypto/sealing.js';
import { keyedDigest, type SubjectKey } from '../crypto/subject-keys.js';
import { openPadded, pad, paddedLength, sealPadded, unpad } from './padding.js';

const keyOf = (byte: number): SubjectKey => {
  const key = Buffer.alloc(32, byte);
  return {
    seal: (context, plaintext) => seal(key, context, plaintext),
    open: (context, sealed) => open(key, context, sealed),
    digest: (purpose, bytes) => keyedDigest(key, purpose, bytes),
  };
};
const KEY = keyOf(1);

it('Padding returns exactly the same bytes, including zeros and marks at their end', () => {
  const bytes = fc.array(fc.constantFrom(0x00, 0x80, 0x41), { maxLength: 40 });
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 20 }), (each, step) => {
      const padded = pad(Uint8Array.from(each), step);
      expect([padded.length % step, padded.length]).toEqual([0, paddedLength(each.length, step)]);
      expect([...unpad(padded)]).toEqual(each);
    }),
  );
  for (const text of ['', 'text', '\u0000\u0000']) expect(() => unpad(Buffer.from(text))).toThrow(RangeError);
});

it('A padded seal has one length within a step, and opens only with its key and context', () => {
  const lengthOf = (bytes: number) => sealPadded(KEY, 'input', 512, Buffer.alloc(bytes, 'x')).length;
  expect([2, 24, 511, 512].map(lengthOf)).toEqual([540, 540, 540, 1_052]);
  const secret = Buffer.from('1815-12-10');
  const sealed = sealPadded(KEY, 'input', 512, secret);
  expect(openPadded(KEY, 'input', sealed)).toEqual(secret);
  expect(() => openPadded(keyOf(2), 'input', sealed)).toThrow(SealBroken);
  expect(() => openPadded(KEY, 'result', sealed)).toThrow(SealBroken);
  expect(() => KEY.open('input', sealed)).toThrow(SealBroken);
});

it('A digest under the key of a subject never changes, and distinguishes keys, purposes and bytes', () => {
  const hex = (key: SubjectKey, purpose: string, text: string) =>
    key.digest(purpose, Buffer.from(text)).toString('hex');
  const digests = [hex(KEY, 'artifact', 'Ada'), hex(KEY, 'artifact', 'Ida'), hex(KEY, 'other', 'Ada')];
  expect(digests[0]).toBe('da65bbb65064182af66f4cb472b18a68ff08bafe6428e2e1ccbd4de14816f3b6');
  expect(new Set([...digests, hex(keyOf(2), 'artifact', 'Ada')]).size).toBe(4);
});
