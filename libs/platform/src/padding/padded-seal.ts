import type { SubjectKey } from '../crypto/subject-keys.js';
import { pad, unpad } from './padding.js';

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
