import type { OperatorRegister, OperatorsEvent } from '../../contracts/operators.js';
import { operators } from '../../domain/operators/operators.decider.js';
import { evolve, isSelfSigned, keyOf } from '../../domain/operators/operators.state.js';
import { isSignedWith } from '../../signatures/signatures.js';

/**
 * The register after a statement, if its signature fits and the rules allow it. Whoever can append to the event store can
 * put any statement into the stream: one that is not allowed changes nothing, and no statement names it as the one before.
 */
export const admitOperator = (
  register: OperatorRegister,
  change: OperatorsEvent,
  rootKeys: readonly string[],
): { readonly register: OperatorRegister; readonly refusal: string | null } => {
  const publicKey = signerOf(change, register);
  const refuse = (refusal: string) => ({ register, refusal });
  if (!publicKey || !isSignedWith(change, publicKey)) return refuse('the signature does not fit');
  const decision = operators.decide({ change, rootKeys }, register);
  if (decision.kind === 'accept') return { register: evolve(register, change), refusal: null };
  return refuse(decision.kind === 'reject' ? decision.code : decision.reason);
};

/** The public key that the statement says it is signed with: of an addition, perhaps its own. */
export const signerOf = (change: OperatorsEvent, register: OperatorRegister): string | null =>
  change.type === 'OperatorAdded' && isSelfSigned(change)
    ? change.data.publicKey
    : (keyOf(register, change.data.signedBy.keySha256)?.publicKey ?? null);
