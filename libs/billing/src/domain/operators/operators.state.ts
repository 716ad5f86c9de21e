import { assertNever } from '@app/event-sourcing/core/decision.js';
import { CHAIN_START } from '@app/event-sourcing/core/hash-chain.js';
import type { OperatorKey, OperatorRegister, OperatorsEvent } from '../../contracts/operators.js';
import { keyDigest, statementDigest } from '../signed-text.js';

export const noOperators: OperatorRegister = { keys: [], head: CHAIN_START };

export const keyOf = ({ keys }: OperatorRegister, keySha256: string): OperatorKey | undefined =>
  keys.find((one) => one.keySha256 === keySha256);

/** Whether an operator signed an addition with the key that it adds. */
export const isSelfSigned = ({ data }: Extract<OperatorsEvent, { type: 'OperatorAdded' }>): boolean =>
  keyDigest(data.publicKey) === data.signedBy.keySha256;

/** The register after a statement. */
export const evolve = ({ keys }: OperatorRegister, event: OperatorsEvent): OperatorRegister => ({
  keys: keysAfter(keys, event),
  head: statementDigest(event),
});

const keysAfter = (keys: readonly OperatorKey[], event: OperatorsEvent): readonly OperatorKey[] => {
  const { type, data } = event;
  const change = (keySha256: string, to: Partial<OperatorKey>): readonly OperatorKey[] =>
    keys.map((one) => (one.keySha256 === keySha256 ? { ...one, ...to } : one));
  switch (type) {
    case 'OperatorAdded': {
      const { operator, publicKey, roles, maxCredits, signedBy, at } = data;
      const isRoot = isSelfSigned(event);
      const added: OperatorKey = {
        operator,
        keySha256: keyDigest(publicKey),
        publicKey,
        roles,
        maxCredits,
        status: isRoot ? 'active' : 'pending',
        addedBy: isRoot ? null : signedBy.operator,
        addedAt: at,
        endedAt: null,
      };
      return [...keys, added];
    }
    case 'OperatorConfirmed':
      return change(data.keySha256, { status: 'active' });
    case 'OperatorRevoked':
      return change(data.keySha256, { status: 'revoked', endedAt: data.at });
    case 'OperatorKeyRotated': {
      const old = keys.find(({ keySha256 }) => keySha256 === data.keySha256);
      const { publicKey, at } = data;
      const next = old && { ...old, publicKey, keySha256: keyDigest(publicKey), addedAt: at };
      const retired = change(data.keySha256, { status: 'retired', endedAt: at });
      return next ? [...retired, next] : retired;
    }
    default:
      return assertNever(type);
  }
};

/** The key behind a signature, when it was trusted with this role at that time. */
export const trustedKey = (
  register: OperatorRegister,
  { operator, keySha256 }: { readonly operator: string; readonly keySha256: string },
  role: OperatorKey['roles'][number],
): OperatorKey | null => {
  const key = keyOf(register, keySha256);
  return key?.operator === operator && key.status === 'active' && key.roles.includes(role) ? key : null;
};
