import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import type { Seal, SealManifest } from '../contracts/audit.js';
import type { Money } from '../contracts/money.js';
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

/** Signs the end of a month. Ed25519 (RFC 8032) is deterministic: the same month and key give the same seal. */
export const sealOf = (
  closed: Recorded<CreditsEventOf<'PeriodClosed'>>,
  money: Money,
  privateKey: KeyObject,
): Seal => {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const manifest: SealManifest = {
    format: 'credit-ledger-seal/2',
    workspaceId: closed.data.workspaceId,
    period: closed.data.period,
    revision: String(closed.revision),
    eventId: closed.id,
    closedAt: closed.metadata.occurredAt,
    headHash: closed.metadata.chain ?? '',
    closing: closed.data.closing,
    money,
    publicKeySha256: createHash('sha256').update(publicKey).digest('hex'),
  };
  const signature = sign(null, Buffer.from(canonicalJson(manifest)), privateKey).toString('base64');
  return { ...manifest, signature };
};
