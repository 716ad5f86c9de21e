import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { Operator } from './settings.js';
import { textsToSign, type Signed } from './domain/correction.js';

/** Base64 of the DER (SPKI) of the public part of a private key: what OPERATORS names. */
export const publicKeyOf = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');

/** @returns base64 of the Ed25519 signature */
export const signText = (text: string, privateKey: KeyObject): string =>
  sign(null, Buffer.from(text), privateKey).toString('base64');

/**
 * What is wrong with an operator's signatures of these texts; `null`: one of their keys made all of them.
 * `retired`: a key did that was retired before this time (ms). `unknown`: they have no key.
 */
export const signatureFault = (
  keys: readonly Operator[],
  name: string,
  texts: readonly string[],
  signatures: readonly string[],
  at = -Infinity,
): 'unknown' | 'wrong' | 'retired' | null => {
  const own = keys.filter((one) => one.name === name);
  if (own.length === 0) return 'unknown';
  const fitting = own.filter(({ publicKey }) => {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    return texts.every((text, position) =>
      verify(null, Buffer.from(text), key, Buffer.from(signatures[position] ?? '', 'base64')),
    );
  });
  if (fitting.length === 0) return 'wrong';
  return fitting.some(({ retiredAt }) => retiredAt === null || at <= retiredAt) ? null : 'retired';
};

/** Why a correction may not be recorded or booked; `null`: operators of now signed every entry, and they are two. */
export const refuseSignatures = (
  { proposed, approved }: Signed,
  operators: readonly Operator[],
): string | null => {
  const { correctionId, operator: proposer, entries } = proposed;
  if (approved?.operator === proposer) return `${proposer} proposed it: another person must approve it`;
  const active = operators.filter(({ state }) => state === 'active');
  const texts = textsToSign(correctionId, proposer, entries);
  for (const { operator, signatures } of approved ? [proposed, approved] : [proposed]) {
    const fault = signatureFault(active, operator, texts, signatures);
    if (fault === 'unknown') return `${operator} has no active key in OPERATORS`;
    if (fault !== null) return `The signature of ${operator} does not fit`;
  }
  return null;
};
