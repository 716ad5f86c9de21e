import type { Decider } from '@app/event-sourcing/core/decider.js';
import {
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '@app/event-sourcing/core/decision.js';
import type {
  OperatorKey,
  OperatorRegister,
  OperatorsEvent,
  OperatorsEventOf,
} from '../../contracts/operators.js';
import { keyDigest } from '../signed-text.js';
import { evolve, isSelfSigned, keyOf, noOperators, trustedKey } from './operators.state.js';

/** A statement whose signature fits the key that it names. */
export interface OperatorsCommand {
  readonly change: OperatorsEvent;
  /** SHA-256 of the keys that the configuration trusts. */
  readonly rootKeys: readonly string[];
}

export type OperatorsRejection = Rejection<
  | 'NotARootKey'
  | 'AlreadyOperator'
  | 'KeyInUse'
  | 'UnknownKey'
  | 'NotTrusted'
  | 'SamePerson'
  /** The register is not the one that the operator signed for. */
  | 'Stale',
  null
>;
type OperatorsDecision = Decision<OperatorsEvent, OperatorsRejection>;

const decide = ({ change, rootKeys }: OperatorsCommand, register: OperatorRegister): OperatorsDecision => {
  const decision = judge(change, register, rootKeys);
  return decision.kind === 'accept' && change.data.previous !== register.head
    ? reject('Stale', null)
    : decision;
};

/** Who may correct the ledger. A key is trusted when the configuration names it, or two operators signed for it. */
export const operators: Decider<OperatorsCommand, OperatorsEvent, OperatorRegister, OperatorsRejection> = {
  initialState: noOperators,
  decide,
  evolve,
};

const judge = (
  change: OperatorsEvent,
  register: OperatorRegister,
  rootKeys: readonly string[],
): OperatorsDecision => {
  switch (change.type) {
    case 'OperatorAdded':
      return add(change, register, rootKeys);
    case 'OperatorConfirmed':
      return confirm(change, register);
    case 'OperatorRevoked':
      return revoke(change, register);
    case 'OperatorKeyRotated':
      return rotate(change, register);
    default:
      return assertNever(change);
  }
};

const activeKeyOf = ({ keys }: OperatorRegister, operator: string): OperatorKey | undefined =>
  keys.find((one) => one.operator === operator && one.status === 'active');

const add = (
  change: OperatorsEventOf<'OperatorAdded'>,
  register: OperatorRegister,
  rootKeys: readonly string[],
): OperatorsDecision => {
  const { operator, publicKey, signedBy } = change.data;
  const known = keyOf(register, keyDigest(publicKey));
  if (known) {
    const isSame = known.operator === operator && ['active', 'pending'].includes(known.status);
    return isSame ? ignore('AlreadyAdded') : reject('KeyInUse', null);
  }
  if (activeKeyOf(register, operator)) return reject('AlreadyOperator', null);
  if (isSelfSigned(change))
    return rootKeys.includes(signedBy.keySha256) && signedBy.operator === operator
      ? accept(change)
      : reject('NotARootKey', null);
  if (signedBy.operator === operator) return reject('SamePerson', null);
  return trustedKey(register, signedBy, 'manage') ? accept(change) : reject('NotTrusted', null);
};

const confirm = (
  change: OperatorsEventOf<'OperatorConfirmed'>,
  register: OperatorRegister,
): OperatorsDecision => {
  const { operator, keySha256, signedBy } = change.data;
  const key = keyOf(register, keySha256);
  if (key?.operator !== operator || key.status === 'revoked') return reject('UnknownKey', null);
  if (key.status !== 'pending') return ignore('AlreadyConfirmed');
  if (activeKeyOf(register, operator)) return reject('AlreadyOperator', null);
  if (!trustedKey(register, signedBy, 'manage')) return reject('NotTrusted', null);
  return [operator, key.addedBy].includes(signedBy.operator) ? reject('SamePerson', null) : accept(change);
};

/** One signature is enough to take trust away: it must be quick. Operators may revoke their own key. */
const revoke = (
  change: OperatorsEventOf<'OperatorRevoked'>,
  register: OperatorRegister,
): OperatorsDecision => {
  const { operator, keySha256, signedBy } = change.data;
  const key = keyOf(register, keySha256);
  if (key?.operator !== operator) return reject('UnknownKey', null);
  if (key.status === 'revoked') return ignore('AlreadyRevoked');
  const signer = keyOf(register, signedBy.keySha256);
  const isOwn = signer?.operator === operator && signer.status === 'active';
  return isOwn || trustedKey(register, signedBy, 'manage') ? accept(change) : reject('NotTrusted', null);
};

const rotate = (
  change: OperatorsEventOf<'OperatorKeyRotated'>,
  register: OperatorRegister,
): OperatorsDecision => {
  const { operator, keySha256, publicKey, signedBy } = change.data;
  const [old, next] = [keyOf(register, keySha256), keyOf(register, keyDigest(publicKey))];
  if (old?.status === 'retired' && next?.operator === operator) return ignore('AlreadyRotated');
  if (next) return reject('KeyInUse', null);
  if (old?.operator !== operator) return reject('UnknownKey', null);
  const isOwn = old.status === 'active' && signedBy.keySha256 === keySha256 && signedBy.operator === operator;
  return isOwn ? accept(change) : reject('NotTrusted', null);
};
