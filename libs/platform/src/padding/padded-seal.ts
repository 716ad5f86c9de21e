import { SealBroken } from '../crypto/sealing.js';
import type { SubjectKey } from '../crypto/subject-keys.js';
import { pad, unpad } from './padding.js';

/**
 * Seals with the subject's key so that the length reveals only the number of steps. The seal also authenticates that
 * the content is padded.
 * @param step bytes
 */
export const sealPadded = (key: SubjectKey, context: string, step: number, plaintext: Uint8Array): Buffer =>
  key.seal(padded(context), pad(plaintext, step));

/** Opens padded seals, and older ones from before lengths were padded. @throws SealBroken */
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
