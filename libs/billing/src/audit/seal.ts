import { createPrivateKey, createPublicKey, hash, sign, type KeyObject } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { EventMetadata } from '#event-sourcing/core/event.js';
import type { LedgerFinding, Seal, SealManifest } from '../contracts/audit.js';
import type { Money } from '../contracts/queries.js';
import type { CreditsEventOf } from '../contracts/events.js';

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
