import { SealBroken } from '../crypto/sealing.js';
import type { SubjectKey } from '../crypto/subject-keys.js';
import { pad, unpad } from './padding.js';

/**
 * Seals under the subject's key so that the length tells no more than how many steps it takes. That it is padded is part
 * of what the seal vouches for.
 * @param step bytes
 */
export const sealPadded = (key: SubjectKey, context: string, step: number, plaintext: Uint8Array): Buffer =>
  key.seal(padded(context), pad(plaintext, step));

/** Opens what was sealed padded, or as it was before lengths were padded. @throws SealBroken */
export const openPadded = (key: SubjectKey, context: string, sealed: Uint8Array): Buffer => {
  let opened: Buffer;
  try {
    opened = key.open(padded(context), sealed);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    return key.open(context, sealed);
  }
  return unpad(opened);
};

const padded = (context: string): string => `${context}|padded`;
