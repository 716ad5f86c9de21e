import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { OperatorRegister } from '../contracts/operators.js';
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

/** Whether somebody signed it whose key is trusted. @param statement perhaps one that no program knows */
export const isSignedByOperator = (
  { type, data }: { readonly type: string; readonly data: unknown },
  register: OperatorRegister,
): boolean => {
  const { signedBy, signature } = (data ?? {}) as Partial<Signed>;
  if (typeof signature !== 'string' || typeof signedBy?.keySha256 !== 'string') return false;
  const key = register.keys.find(({ keySha256 }) => keySha256 === signedBy.keySha256);
  return key?.status === 'active' && isSignedWith({ type, data: data as object }, key.publicKey);
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
