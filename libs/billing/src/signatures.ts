import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { CorrectionEntry } from './contracts/corrections.js';
import type { CorrectionState } from './domain/correction.decider.js';
import type { Operator } from './settings.js';

/** What both operators sign of one entry. */
export type SignedFacts = CorrectionEntry &
  Readonly<Record<'correctionId' | 'adjustmentId' | 'proposedBy', string>>;

/** The text that both operators sign: canonical JSON. The format keeps it apart from seals and months. */
export const signedText = ({
  workspaceId,
  correctionId,
  adjustmentId,
  proposedBy,
  ...entry
}: SignedFacts) => {
  const { amount, reason, reference, reversesEventId, grantId, expiresAt } = entry;
  const ids = { workspaceId, correctionId, adjustmentId, proposedBy };
  const facts = { amount, reason, reference, reversesEventId, grantId, expiresAt };
  return canonicalJson({ format: 'credit-ledger-correction/1', ...ids, ...facts });
};

/** The id under which a book knows an entry: the same for every attempt to book it. */
export const adjustmentIdOf = (correctionId: string, position: number): string =>
  uuid5(correctionId, String(position));

/** The texts of all entries of a proposal, in their order. @param operator who proposes them */
export const textsToSign = (
  correctionId: string,
  operator: string,
  entries: readonly CorrectionEntry[],
): readonly string[] =>
  entries.map((entry, position) => {
    const adjustmentId = adjustmentIdOf(correctionId, position);
    return signedText({ ...entry, correctionId, proposedBy: operator, adjustmentId });
  });

/** Base64 of the DER (SPKI) of the public part of a private key: what OPERATORS names. */
export const publicKeyOf = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');

/** @returns base64 of the Ed25519 signature */
export const signText = (text: string, privateKey: KeyObject): string =>
  sign(null, Buffer.from(text), privateKey).toString('base64');

/** Whether one of an operator's keys signed all of these texts; `null`: they have no key. */
export const haveSigned = (
  keys: readonly Operator[],
  name: string,
  texts: readonly string[],
  signatures: readonly string[],
): boolean | null => {
  const own = keys.filter((one) => one.name === name);
  if (own.length === 0) return null;
  return own.some(({ publicKey }) => {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    return texts.every((text, position) =>
      verify(null, Buffer.from(text), key, Buffer.from(signatures[position] ?? '', 'base64')),
    );
  });
};

/** Why a correction may not be recorded or booked; `null`: operators of now signed every entry, and they are two. */
export const refuseSignatures = (
  { proposed, approved }: Pick<CorrectionState, 'proposed' | 'approved'>,
  operators: readonly Operator[],
): string | null => {
  if (approved?.operator === proposed.operator)
    return `${proposed.operator} proposed it: another person must approve it`;
  const active = operators.filter(({ state }) => state === 'active');
  const texts = textsToSign(proposed.correctionId, proposed.operator, proposed.entries);
  for (const { operator, signatures } of approved ? [proposed, approved] : [proposed]) {
    const isSigned = haveSigned(active, operator, texts, signatures);
    if (isSigned === null) return `${operator} has no active key in OPERATORS`;
    if (!isSigned) return `The signature of ${operator} does not fit`;
  }
  return null;
};
