import type { Correction } from '../../contracts/corrections.js';
import type { Signed } from '../../contracts/signed.js';
import { creditsOf, statusAt, type CorrectionState } from '../../domain/correction/correction.state.js';

/** @param booked positions of the entries that their books have @param now milliseconds */
export const correctionView = (
  state: CorrectionState,
  booked: readonly number[],
  now: number,
): Correction => {
  const { proposed, proposal, approved, ended } = state;
  const { correctionId, kind, reason, reference, entries, expiresAt } = proposed;
  return {
    correctionId,
    status: statusAt(state, now, booked),
    kind,
    reason,
    reference,
    credits: creditsOf(proposed),
    entries: entries.map((entry, position) => ({ ...entry, booked: booked.includes(position) })),
    expiresAt,
    proposal,
    proposed: signedOf(proposed),
    approved: approved && signedOf(approved),
    ended: ended && { ...signedOf(ended), reason: ended.reason },
  };
};

const signedOf = ({ at, signedBy, signature }: Signed): Signed => ({ at, signedBy, signature });
