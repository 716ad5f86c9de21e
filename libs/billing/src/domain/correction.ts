import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { type Decider, accept, ignore, reject, type Rejection } from '#event-sourcing/core/decider.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
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
/** A proposal and its approval, if there is one. */
export type Signed = Pick<CorrectionState, 'proposed' | 'approved'>;

/** What an operator decides. The signatures fit, are of two people, and are those of the proposal that they approve. */
interface CorrectionCommand {
  readonly event: CorrectionEvent;
  /** Milliseconds. */
  readonly now: number;
}

export type CorrectionRejection =
  | Rejection<'ReferenceInUse' | 'WrongStatus', { readonly status: CorrectionStatus }>
  | Rejection<'Unknown', null>;

/** A correction of credit books, which two people sign. */
export const correction: Decider<
  CorrectionCommand,
  CorrectionEvent,
  CorrectionState | null,
  CorrectionRejection
> = {
  initialState: null,
  decide: ({ event, now }, state) => {
    if (!state) return event.type === 'CorrectionProposed' ? accept(event) : reject('Unknown', null);
    const status = statusAt(state, now);
    if (event.type === 'CorrectionProposed')
      return ['proposed', 'approved'].includes(status) && contentOf(event.data) === contentOf(state.proposed)
        ? ignore('AlreadyProposed')
        : reject('ReferenceInUse', { status });
    if (event.type === 'CorrectionApproved' ? state.approved : state.rejected)
      return ignore('AlreadyRecorded');
    // What its books refused is withdrawn, or a repeated approval would book it later.
    const isOpen = status === 'proposed' || (event.type === 'CorrectionRejected' && status === 'approved');
    return isOpen ? accept(event) : reject('WrongStatus', { status });
  },
  evolve: (state, { type, data }) => {
    // Who signs has seen the first: nobody puts another in its place.
    if (type === 'CorrectionProposed') return state ?? { proposed: data, approved: null, rejected: null };
    if (!state) return null;
    return type === 'CorrectionApproved' ? { ...state, approved: data } : { ...state, rejected: data };
  },
};

/** The same books, credits and reasons, whoever proposes them and until when. */
const contentOf = ({ kind, reason, reference, entries }: CorrectionState['proposed']): string =>
  canonicalJson({ kind, reason, reference, entries });

/** As far as the stream says: only the books know whether it is booked. @param now milliseconds */
export const statusAt = ({ proposed, approved, rejected }: CorrectionState, now: number) => {
  if (rejected) return 'rejected';
  if (Date.parse(proposed.expiresAt) <= now) return 'expired';
  return approved ? 'approved' : 'proposed';
};

/** What both operators sign of one entry. */
type SignedFacts = CorrectionEntry & Readonly<Record<'correctionId' | 'adjustmentId' | 'proposedBy', string>>;

/** The text that both operators sign: canonical JSON. The format keeps it apart from seals and months. */
export const signedText = (facts: SignedFacts): string => {
  const { workspaceId, correctionId, adjustmentId, proposedBy } = facts;
  const { amount, reason, reference, reversesEventId, grantId, expiresAt } = facts;
  const ids = { workspaceId, correctionId, adjustmentId, proposedBy };
  const entry = { amount, reason, reference, reversesEventId, grantId, expiresAt };
  return canonicalJson({ format: 'credit-ledger-correction/1', ...ids, ...entry });
};

/** The id under which a book knows an entry: the same for every attempt to book it. */
export const adjustmentIdOf = (correctionId: string, position: number): string =>
  uuid5(correctionId, String(position));

/** The texts of all entries of a proposal, in their order. @param proposedBy the operator who proposes them */
export const textsToSign = (
  correctionId: string,
  proposedBy: string,
  entries: readonly CorrectionEntry[],
): readonly string[] =>
  entries.map((entry, position) => {
    const adjustmentId = adjustmentIdOf(correctionId, position);
    return signedText({ ...entry, correctionId, proposedBy, adjustmentId });
  });
