import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { Signed } from '../contracts/signed.js';
import { keyDigest, signedText, type Statement } from '../domain/signed-text.js';

const base64Of = (publicKey: KeyObject): string =>
  publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

/** Base64 of the DER (SPKI) of the public part of a private key. */
export const publicKeyOf = (privateKey: KeyObject): string => base64Of(createPublicKey(privateKey));

/** A public key from PEM; `null` when it is not Ed25519. */
export const readPublicKey = (pem: string): string | null => {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? base64Of(key) : null;
  } catch {
    return null;
  }
};

/** Signs a statement with an operator's private key. */
export const signStatement = <T extends Statement>(
  statement: { readonly type: T['type']; readonly data: Omit<T['data'], keyof Signed> },
  operator: string,
  privateKey: KeyObject,
  at: string,
): T => {
  const signedBy = { operator, keySha256: keyDigest(publicKeyOf(privateKey)) };
  const data = { ...statement.data, at, signedBy };
  const text = signedText({ type: statement.type, data });
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
  return { type: statement.type, data: { ...data, signature } } as unknown as T;
};

/** @param publicKey base64 of DER (SPKI) */
export const isSignedWith = (statement: Statement, publicKey: string): boolean => {
  const { signedBy, signature } = statement.data as Signed;
  if (keyDigest(publicKey) !== signedBy.keySha256) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyType !== 'ed25519') return false;
    return verify(null, Buffer.from(signedText(statement)), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
};
