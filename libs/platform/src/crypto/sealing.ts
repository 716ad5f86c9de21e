import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Something sealed does not open: wrong key, wrong context, or changed bytes. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/**
 * AES-256-GCM (NIST SP 800-38D): 12 bytes of fresh nonce, the ciphertext, 16 bytes of tag. `context` is additional
 * authenticated data, so that sealed bytes cannot be moved to another owner or place.
 */
export const seal = (key: Uint8Array, context: string, plaintext: Uint8Array): Buffer => {
  const nonce = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
};

/** @throws SealBroken */
export const open = (key: Uint8Array, context: string, sealed: Uint8Array): Buffer => {
  if (sealed.length < IV_BYTES + TAG_BYTES) throw new SealBroken('Too short to be sealed');
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([
      decipher.update(sealed.subarray(IV_BYTES, sealed.length - TAG_BYTES)),
      decipher.final(),
    ]);
  } catch {
    throw new SealBroken('Sealed with another key or context, or changed');
  }
};
