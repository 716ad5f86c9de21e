import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { Decider } from '#event-sourcing/core/decider.js';
import {
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '#event-sourcing/core/decision.js';
import {
  MOST_ENTRIES,
  type CorrectionData,
  type CorrectionEvent,
  type CorrectionEntry,
  type CorrectionStatus,
} from '../../contracts/corrections.js';
import { bytesOf, MOST_APPEND_BYTES } from '../append-size.js';

export interface CorrectionState {
  readonly proposed: CorrectionData<'CorrectionProposed'>;
  readonly approved: CorrectionData<'CorrectionApproved'> | null;
  readonly rejected: CorrectionData<'CorrectionRejected'> | null;
}

/** What an operator decides: their signatures fit, and those of the proposal that they approve. */
export interface CorrectionCommand {
  readonly event: CorrectionEvent;
  /** CORRECTION_MAX_CREDITS. */
  readonly maxCredits: number;
  /** Milliseconds. */
  readonly now: number;
}

export type CorrectionRejection =
  | Rejection<'AboveLimit', { readonly credits: number; readonly most: number }>
  | Rejection<
      'TooLarge',
      { readonly unit: 'entries' | 'bytes'; readonly size: number; readonly most: number }
    >
  | Rejection<'SamePerson', { readonly operator: string }>
  | Rejection<'ReferenceInUse' | 'WrongStatus', { readonly status: CorrectionStatus }>
  | Rejection<'Unknown', null>;
type CorrectionDecision = Decision<CorrectionEvent, CorrectionRejection>;

const decide = (command: CorrectionCommand, state: CorrectionState | null): CorrectionDecision => {
  const { event, now } = command;
  if (event.type === 'CorrectionProposed') return propose(event, command, state);
  if (!state) return reject('Unknown', null);
  const status = statusAt(state, now);
  switch (event.type) {
    case 'CorrectionApproved': {
      if (state.approved) return ignore('AlreadyApproved');
      if (status !== 'proposed') return reject('WrongStatus', { status });
      const { operator } = event.data;
      return operator === state.proposed.operator ? reject('SamePerson', { operator }) : accept(event);
    }
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

const propose = (
  event: Extract<CorrectionEvent, { type: 'CorrectionProposed' }>,
  { maxCredits, now }: CorrectionCommand,
  state: CorrectionState | null,
): CorrectionDecision => {
  const { data } = event;
  if (state) {
    const status = statusAt(state, now);
    return ['proposed', 'approved'].includes(status) && contentOf(data) === contentOf(state.proposed)
      ? ignore('AlreadyProposed')
      : reject('ReferenceInUse', { status });
  }
  const [entries, bytes] = [data.entries.length, bytesOf([event])];
  if (entries > MOST_ENTRIES)
    return reject('TooLarge', { unit: 'entries' as const, size: entries, most: MOST_ENTRIES });
  if (bytes > MOST_APPEND_BYTES)
    return reject('TooLarge', { unit: 'bytes' as const, size: bytes, most: MOST_APPEND_BYTES });
  const credits = creditsOf(data);
  if (credits > maxCredits) return reject('AboveLimit', { credits, most: maxCredits });
  return accept(event);
};

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
