import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import {
  type Decider,
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '#event-sourcing/core/decider.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';
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

const decide = (
  { event, maxCredits, now }: CorrectionCommand,
  state: CorrectionState | null,
): Decision<CorrectionEvent, CorrectionRejection> => {
  if (!state) {
    if (event.type !== 'CorrectionProposed') return reject('Unknown', null);
    const credits = creditsOf(event.data);
    return credits > maxCredits ? reject('AboveLimit', { credits, most: maxCredits }) : accept(event);
  }
  const status = statusAt(state, now);
  switch (event.type) {
    case 'CorrectionProposed':
      return ['proposed', 'approved'].includes(status) && contentOf(event.data) === contentOf(state.proposed)
        ? ignore('AlreadyProposed')
        : reject('ReferenceInUse', { status });
    case 'CorrectionApproved':
      if (state.approved) return ignore('AlreadyApproved');
      return status === 'proposed' ? accept(event) : reject('WrongStatus', { status });
    case 'CorrectionRejected':
      if (status === 'rejected') return ignore('AlreadyRejected');
      return status === 'proposed' ? accept(event) : reject('WrongStatus', { status });
    default:
      return assertNever(event);
  }
};

const evolve = (state: CorrectionState | null, { type, data }: CorrectionEvent): CorrectionState | null => {
  // Who signs has seen the first: nobody puts another in its place.
  if (type === 'CorrectionProposed') return state ?? { proposed: data, approved: null, rejected: null };
  if (!state) return null;
  return type === 'CorrectionApproved' ? { ...state, approved: data } : { ...state, rejected: data };
};

/** A correction of credit books, which two people sign. */
export const correction: Decider<
  CorrectionCommand,
  CorrectionEvent,
  CorrectionState | null,
  CorrectionRejection
> = { initialState: null, decide, evolve };

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

/** Who gives the credits of a document back that failed, in place of two operators. */
export const DOCUMENT_REFUND = 'billing.document-refund';
export const DOCUMENT_REFUND_ACTOR = `system:${DOCUMENT_REFUND}`;

/** Whether the service gave up the only document of a reading. With a lost key, operators decide after a restore. */
export const isGivenUp = ({
  version,
  code,
}: Extract<PublicationEvent, { type: 'PublicationFailed' }>['data']): boolean =>
  version === 1 && code === 'generation_failed';

/**
 * The facts of the entry that gives back the credits of a reading. One failure has one entry.
 * @param failureId event id of the `PublicationFailed`
 * @param amount what is left to reverse of the capture, in credits
 */
export const documentRefund = (
  readingId: string,
  failureId: string,
  captureEventId: string,
  amount: number,
) => ({
  adjustmentId: uuid5(failureId, 'refund'),
  amount,
  reason: 'the document of the reading could not be made',
  reversesEventId: captureEventId,
  reference: readingId,
});
