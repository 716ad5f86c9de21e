import { Query } from '#platform/cqrs/message.js';
import type { CorrectionFinding } from './corrections.js';
import type { Accounts } from './events.js';
import type { Money } from './money.js';

/** States the end of a book at the end of a month. The signature covers all members except `signature`. */
export interface SealManifest {
  readonly format: 'credit-ledger-seal/1';
  readonly workspaceId: string;
  readonly period: string;
  /** Of the PeriodClosed event. */
  readonly revision: string;
  readonly eventId: string;
  readonly closedAt: string;
  /** Chain value of the PeriodClosed event. It covers this event and all before it. */
  readonly headHash: string;
  readonly closing: Accounts;
  /** Of the month. */
  readonly money: Money;
  /** Lowercase hex SHA-256 of the public key (DER, SPKI). */
  readonly publicKeySha256: string;
}

export interface Seal extends SealManifest {
  /** Base64 of the Ed25519 signature over the canonical JSON of all other members. */
  readonly signature: string;
}

export type SealResult =
  | { readonly outcome: 'sealed'; readonly seal: Seal }
  | { readonly outcome: 'not_closed' }
  | { readonly outcome: 'not_an_ed25519_key' }
  /** A book that fails verification is not sealed. */
  | { readonly outcome: 'does_not_verify'; readonly firstBadRevision: bigint }
  /** The book contains a correction that two operators did not sign, or nobody can tell. It is not sealed. */
  | { readonly outcome: 'correction_not_signed'; readonly finding: CorrectionFinding };

/** Signs the end of a closed month. The same month and key give the same seal. */
export class SealPeriod extends Query<SealResult> {
  constructor(
    readonly workspaceId: string,
    readonly period: string,
    /** PEM, PKCS #8. */
    readonly privateKey: string,
  ) {
    super();
  }
}
