import { createPublicKey, sign, verify, type KeyObject, createPrivateKey, hash } from 'node:crypto';
import type { Operator } from './settings.js';
import { textsToSign, type Signed } from './domain/correction.js';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { EventMetadata } from '#event-sourcing/core/event.js';
import type { LedgerFinding, Seal, SealManifest } from './contracts/audit.js';
import type { Money } from './contracts/messages.js';
import type { CreditsEventOf } from './contracts/events.js';

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

/** Parses a PEM text; `null` when it is not an Ed25519 private key. */
export const readSealKey = (pem: string): KeyObject | null => {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
};

/** Lowercase hex SHA-256 of the public key (DER, SPKI). */
export const keyIdOf = (privateKey: KeyObject): string =>
  hash('sha256', createPublicKey(privateKey).export({ type: 'spki', format: 'der' }), 'hex');

/** Whether a book may be sealed in spite of a finding: the chain is whole, and the closed months add up. */
export const allowsSeal = ({ check }: Pick<LedgerFinding, 'check'>): boolean =>
  check === 'clock' || check === 'setAside';

/** What a seal needs of the event that closed the month. */
export interface ClosedMonth {
  readonly id: string;
  readonly revision: bigint;
  readonly metadata: Pick<EventMetadata, 'occurredAt' | 'chain'>;
  readonly data: Pick<CreditsEventOf<'PeriodClosed'>['data'], 'workspaceId' | 'period' | 'closing'>;
}

/** Signs the end of a month. Ed25519 (RFC 8032) is deterministic: the same month and key give the same seal. */
export const sealOf = (closed: ClosedMonth, money: Money, privateKey: KeyObject): Seal => {
  const manifest: SealManifest = {
    format: 'credit-ledger-seal/1',
    workspaceId: closed.data.workspaceId,
    period: closed.data.period,
    revision: String(closed.revision),
    eventId: closed.id,
    closedAt: closed.metadata.occurredAt,
    headHash: closed.metadata.chain ?? '',
    closing: closed.data.closing,
    money,
    publicKeySha256: keyIdOf(privateKey),
  };
  const signature = sign(null, Buffer.from(canonicalJson(manifest)), privateKey).toString('base64');
  return { ...manifest, signature };
};

/** A new public key, signed with the key it replaces. An auditor who trusts the old key can then trust the new one. */
export interface KeyHandover {
  readonly format: 'credit-ledger-key/1';
  /** Lowercase hex SHA-256 of the old public key (DER, SPKI). */
  readonly previousKeySha256: string;
  /** PEM. */
  readonly publicKey: string;
  /** Base64 of the Ed25519 signature over the canonical JSON of the other members. */
  readonly signature: string;
}

export const handoverOf = (oldKey: KeyObject, newPublicKey: string): KeyHandover => {
  const manifest = {
    format: 'credit-ledger-key/1' as const,
    previousKeySha256: keyIdOf(oldKey),
    publicKey: newPublicKey,
  };
  const signature = sign(null, Buffer.from(canonicalJson(manifest)), oldKey).toString('base64');
  return { ...manifest, signature };
};
