import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { type Decider, accept, ignore, reject, type Rejection } from '#event-sourcing/core/decider.js';
import type {
  CorrectionData,
  CorrectionEntry,
  CorrectionEvent,
  CorrectionStatus,
} from '../contracts/corrections.js';

export interface CorrectionState {
  readonly proposed: CorrectionData<'CorrectionProposed'>;
  readonly approved: CorrectionData<'CorrectionApproved'> | null;
  readonly rejected: CorrectionData<'CorrectionRejected'> | null;
}

/** What an operator decides. The signatures fit, are of two people, and are those of the proposal that they approve. */
export interface CorrectionCommand {
  readonly event: CorrectionEvent;
  readonly maxCredits: number;
  /** Milliseconds. */
  readonly now: number;
}

export type CorrectionRejection =
  | Rejection<'AboveLimit', { readonly credits: number; readonly most: number }>
  | Rejection<'ReferenceInUse' | 'WrongStatus', { readonly status: CorrectionStatus }>
  | Rejection<'Unknown', null>;

type CorrectionDecider = Decider<
  CorrectionCommand,
  CorrectionEvent,
  CorrectionState | null,
  CorrectionRejection
>;

const decide: CorrectionDecider['decide'] = ({ event, maxCredits, now }, state) => {
  if (!state) {
    if (event.type !== 'CorrectionProposed') return reject('Unknown', null);
    const credits = creditsOf(event.data);
    return credits > maxCredits ? reject('AboveLimit', { credits, most: maxCredits }) : accept(event);
  }
  const status = statusAt(state, now);
  if (event.type === 'CorrectionProposed')
    return ['proposed', 'approved'].includes(status) && contentOf(event.data) === contentOf(state.proposed)
      ? ignore('AlreadyProposed')
      : reject('ReferenceInUse', { status });
  if (event.type === 'CorrectionApproved' ? state.approved : state.rejected) return ignore('AlreadyRecorded');
  return status === 'proposed' ? accept(event) : reject('WrongStatus', { status });
};

const evolve: CorrectionDecider['evolve'] = (state, { type, data }) => {
  // Who signs has seen the first: nobody puts another in its place.
  if (type === 'CorrectionProposed') return state ?? { proposed: data, approved: null, rejected: null };
  if (!state) return null;
  return type === 'CorrectionApproved' ? { ...state, approved: data } : { ...state, rejected: data };
};

/** A correction of credit books, which two people sign. */
export const correction: CorrectionDecider = { initialState: null, decide, evolve };

/** The same books, credits and reasons, whoever proposes them and until when. */
const contentOf = ({ kind, reason, reference, entries }: CorrectionState['proposed']): string =>
  canonicalJson({ kind, reason, reference, entries });

/** As far as the stream says: only the books know whether it is booked. @param now milliseconds */
export const statusAt = (
  { proposed, approved, rejected }: CorrectionState,
  now: number,
): Exclude<CorrectionStatus, 'booked'> => {
  if (rejected) return 'rejected';
  if (Date.parse(proposed.expiresAt) <= now) return 'expired';
  return approved ? 'approved' : 'proposed';
};

/** What the limit counts: credits without their signs. */
export const creditsOf = ({ entries }: { readonly entries: readonly CorrectionEntry[] }): number =>
  entries.reduce((sum, { amount }) => sum + Math.abs(amount), 0);
