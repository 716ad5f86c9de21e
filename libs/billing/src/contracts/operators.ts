import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '@app/event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Command, Query } from '@app/platform/cqrs/message.js';
import { base64, operatorName, sha256, signed } from './signed.js';

/** What an operator may sign: proposals of corrections, approvals, changes of this register. */
export const OPERATOR_ROLES = ['propose', 'approve', 'manage'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Digest of the statement before, 64 zeros for the first: a signed change fits in one place only. */
const previous = sha256;
/** Ed25519, base64 of the DER (SPKI). */
const publicKey = base64;

/**
 * Stream `operators-register`: who may correct the ledger. Each event is a statement that an operator signed
 * (`signedText`). Private keys are with their operators only.
 */
export const operatorsEvents = eventCatalogue('operators', {
  /**
   * Signed with its own key: a key of OPERATOR_ROOT_KEYS, trusted at once. Signed by another operator: trusted once a
   * third one confirms it. `maxCredits` limits what this operator may sign, besides the settings.
   */
  OperatorAdded: event(
    1,
    z.strictObject({
      operator: operatorName,
      publicKey,
      roles: z.array(z.enum(OPERATOR_ROLES)).min(1),
      maxCredits: z.int().positive().nullable(),
      previous,
      ...signed,
    }),
  ),
  OperatorConfirmed: event(
    1,
    z.strictObject({ operator: operatorName, keySha256: sha256, previous, ...signed }),
  ),
  /** From now on, nothing that this key signs counts. What it signed before stays. */
  OperatorRevoked: event(
    1,
    z.strictObject({
      operator: operatorName,
      keySha256: sha256,
      reason: z.string().min(1),
      previous,
      ...signed,
    }),
  ),
  /** Signed with the old key, which ends here. */
  OperatorKeyRotated: event(
    1,
    z.strictObject({ operator: operatorName, keySha256: sha256, publicKey, previous, ...signed }),
  ),
});

export type OperatorsEvent = EventOf<typeof operatorsEvents>;
export type OperatorsEventOf<T extends OperatorsEvent['type']> = Extract<OperatorsEvent, { type: T }>;

/** A key in the register. */
export interface OperatorKey {
  readonly operator: string;
  /** Lowercase hex SHA-256 of the public key (DER, SPKI). */
  readonly keySha256: string;
  readonly publicKey: string;
  readonly roles: readonly OperatorRole[];
  readonly maxCredits: number | null;
  /** `pending`: waits for a second operator. `retired`: replaced by its operator. */
  readonly status: 'pending' | 'active' | 'retired' | 'revoked';
  /** Who added it; `null` for a root key. */
  readonly addedBy: string | null;
  /** When it was added, and when it ended. */
  readonly addedAt: string;
  readonly endedAt: string | null;
}

export interface OperatorRegister {
  readonly keys: readonly OperatorKey[];
  /** For the `previous` of the next statement. */
  readonly head: string;
}

/** Why a statement was not recorded. Nothing changed. */
export type OperatorRefusal =
  | 'not_a_root_key'
  | 'already_operator'
  | 'key_in_use'
  | 'unknown_key'
  | 'not_trusted'
  | 'same_person'
  /** The register has changed since the statement was signed: sign again. */
  | 'stale'
  | 'bad_signature';

/** `already`: the register says so already. */
export type OperatorChangeResult =
  | { readonly outcome: 'recorded' | 'already'; readonly key: OperatorKey }
  | { readonly outcome: 'refused'; readonly why: OperatorRefusal };

/** Records a signed statement about an operator. */
export class RecordOperatorChange extends Command<OperatorChangeResult> {
  constructor(
    readonly change: OperatorsEvent,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export class GetOperatorRegister extends Query<OperatorRegister> {}
