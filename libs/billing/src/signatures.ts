import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { CorrectionState } from './domain/correction/correction.decider.js';
import { textsToSign } from './domain/correction/signed-text.js';
import type { Operator } from './settings.js';

const keyOf = (publicKey: string): KeyObject =>
  createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });

/** Base64 of the DER (SPKI) of the public part of a private key: what OPERATORS names. */
export const publicKeyOf = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');

/** @returns base64 of the Ed25519 signature */
export const signText = (text: string, privateKey: KeyObject): string =>
  sign(null, Buffer.from(text), privateKey).toString('base64');

/**
 * Why somebody's signatures of these texts do not count; `null`: they do.
 * @param states of the keys that count: `active` to sign now, both to prove what was signed
 */
export const signatureFault = (
  operators: readonly Operator[],
  name: string,
  signed: readonly { readonly text: string; readonly signature: string | undefined }[],
  states: readonly Operator['state'][],
): 'NotOperator' | 'BadSignature' | null => {
  const keys = operators.filter((one) => one.name === name && states.includes(one.state));
  if (keys.length === 0) return 'NotOperator';
  const isSigned = keys.some(({ publicKey }) => {
    const key = keyOf(publicKey);
    return signed.every(({ text, signature = '' }) =>
      verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64')),
    );
  });
  return isSigned ? null : 'BadSignature';
};

/** Why a correction may not be recorded or booked; `null`: operators of now signed every entry, and they are two. */
export const refuseSignatures = (
  { proposed, approved }: Pick<CorrectionState, 'proposed' | 'approved'>,
  operators: readonly Operator[],
) => {
  const code = approved?.operator === proposed.operator ? 'SamePerson' : null;
  if (code) return { code, details: { operator: proposed.operator } } as const;
  const texts = textsToSign(proposed);
  for (const { operator, signatures } of approved ? [proposed, approved] : [proposed]) {
    const signed = texts.map((text, position) => ({ text, signature: signatures[position] }));
    const fault = signatureFault(operators, operator, signed, ['active']);
    if (fault) return { code: fault, details: { operator } } as const;
  }
  return null;
};
