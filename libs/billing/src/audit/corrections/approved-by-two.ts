import type { OperatorKey, OperatorRegister } from '../../contracts/operators.js';
import type { Signed } from '../../contracts/signed.js';
import type { CorrectionState } from '../../domain/correction/correction.state.js';
import { keyOf } from '../../domain/operators/operators.state.js';
import type { Statement } from '../../domain/signed-text.js';
import { isSignedWith } from '../../signatures/signatures.js';

/** Whether two people, trusted when they signed, signed the same proposal with keys of their own. */
export const isApprovedByTwo = (
  { proposed, proposal, approved }: CorrectionState,
  register: OperatorRegister,
): boolean => {
  if (approved?.proposal !== proposal) return false;
  const [proposer, approver] = [proposed.signedBy, approved.signedBy];
  return (
    proposer.operator !== approver.operator &&
    proposer.keySha256 !== approver.keySha256 &&
    wasSigned({ type: 'CorrectionProposed', data: proposed }, register, 'propose') &&
    wasSigned({ type: 'CorrectionApproved', data: approved }, register, 'approve')
  );
};

/** With a key that was this operator's, for this role, at that time. */
const wasSigned = (
  statement: Statement & { readonly data: Signed },
  register: OperatorRegister,
  role: OperatorKey['roles'][number],
): boolean => {
  const { signedBy, at } = statement.data;
  const key = keyOf(register, signedBy.keySha256);
  if (!key || key.status === 'pending' || key.operator !== signedBy.operator || !key.roles.includes(role))
    return false;
  return (key.endedAt === null || at < key.endedAt) && isSignedWith(statement, key.publicKey);
};
