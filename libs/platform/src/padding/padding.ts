import type { SubjectKey } from '../crypto/subject-keys.js';

/** The padded length of this many bytes: the next multiple of the step, with room for the mark. */
export const paddedLength = (bytes: number, step: number): number => (Math.floor(bytes / step) + 1) * step;

/** ISO/IEC 7816-4: one byte 0x80, then zeros, to a multiple of `step` bytes. */
export const pad = (bytes: Uint8Array, step: number): Buffer => {
  const padded = Buffer.alloc(paddedLength(bytes.length, step));
  padded.set(bytes);
  padded[bytes.length] = MARK;
  return padded;
};

/** The original bytes. @throws RangeError when the input is not padded */
export const unpad = (padded: Buffer): Buffer => {
  let end = padded.length - 1;
  while (end >= 0 && padded[end] === 0) end -= 1;
  if (padded[end] !== MARK) throw new RangeError('Not padded');
  return padded.subarray(0, end);
};

const MARK = 0x80;

/**
 * Seals with the subject's key so that the length reveals only the number of steps. The seal also authenticates that
 * the content is padded.
 * @param step bytes
 */
export const sealPadded = (key: SubjectKey, context: string, step: number, plaintext: Uint8Array): Buffer =>
  key.seal(padded(context), pad(plaintext, step));

/** @throws SealBroken */
export const openPadded = (key: SubjectKey, context: string, sealed: Uint8Array): Buffer =>
  unpad(key.open(padded(context), sealed));

const padded = (context: string): string => `${context}|padded`;
