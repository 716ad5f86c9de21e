import type { Correction, EntryValue } from '../../contracts/corrections.js';
import type { Signed } from '../../contracts/signed.js';
import { creditsOf, statusAt, type CorrectionState } from '../../domain/correction/correction.state.js';

/**
 * @param booked positions of the entries that their books have
 * @param now milliseconds
 * @param values of the entries, by position
 */
export const correctionView = (
  state: CorrectionState,
  booked: readonly number[],
  now: number,
  values?: ReadonlyMap<number, EntryValue>,
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
    entries: entries.map((entry, position) => ({
      ...entry,
      booked: booked.includes(position),
      value: values?.get(position) ?? null,
    })),
    expiresAt,
    proposal,
    proposed: signedOf(proposed),
    approved: approved && signedOf(approved),
    ended: ended && { ...signedOf(ended), reason: ended.reason },
  };
};

const signedOf = ({ at, signedBy, signature }: Signed): Signed => ({ at, signedBy, signature });
