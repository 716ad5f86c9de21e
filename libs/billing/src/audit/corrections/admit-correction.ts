import type { CorrectionEvent } from '../../contracts/corrections.js';
import type { OperatorRegister } from '../../contracts/operators.js';
import { correction } from '../../domain/correction/correction.decider.js';
import type { CorrectionState } from '../../domain/correction/correction.state.js';
import { keyOf } from '../../domain/operators/operators.state.js';
import { isSignedWith } from '../../signatures/signatures.js';

/**
 * A correction after an event of its stream, if the signature fits and the rules allow it. Anybody who can append to the
 * event store can put any event into the stream: one that is not allowed changes nothing.
 *
 * @param id of the stream
 * @param register as it was when the event was recorded
 * @param occurredAt of an event without a signature
 */
export const admitCorrection = (
  id: string,
  state: CorrectionState | null,
  event: CorrectionEvent,
  register: OperatorRegister,
  occurredAt: string,
): { readonly state: CorrectionState | null; readonly refusal: string | null } => {
  const refuse = (refusal: string) => ({ state, refusal });
  if (event.data.correctionId !== id) return refuse('the statement is of another correction');
  if (event.type !== 'CorrectionBooked') {
    const key = keyOf(register, event.data.signedBy.keySha256);
    if (!key || !isSignedWith(event, key.publicKey))
      return refuse('the signature does not fit the statement');
  }
  const now = Date.parse('at' in event.data ? event.data.at : occurredAt);
  // Limits are settings, and may have been others. The stream alone says what counts: it names no book's entries.
  const command = { event, register, maxCredits: Infinity, now, booked: [] };
  const decision = correction.decide(command, state);
  if (decision.kind === 'accept') return { state: correction.evolve(state, event), refusal: null };
  const reason = decision.kind === 'reject' ? decision.code : decision.reason;
  return refuse(`the correction does not allow it: ${reason}`);
};
