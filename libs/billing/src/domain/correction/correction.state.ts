import { assertNever } from '@app/event-sourcing/core/decision.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type { CorrectionEvent, CorrectionEventOf, CorrectionStatus } from '../../contracts/corrections.js';
import { statementDigest } from '../signed-text.js';

type Data<T extends CorrectionEvent['type']> = CorrectionEventOf<T>['data'];

/** The last proposal of a correction, and what became of it. */
export interface CorrectionState {
  readonly proposed: Data<'CorrectionProposed'>;
  /** What both operators sign. */
  readonly proposal: string;
  /** As far as the stream says. */
  readonly status: Exclude<CorrectionStatus, 'expired' | 'booked'>;
  readonly approved: Data<'CorrectionApproved'> | null;
  readonly ended: Data<'CorrectionRejected'> | null;
  /** Positions that somebody recorded as booked. Only the books prove it. */
  readonly noted: readonly number[];
  /** Digests of the proposals before this one: none of them comes back. */
  readonly earlier: readonly string[];
}

export const noCorrection: CorrectionState | null = null;

export const evolve = (state: CorrectionState | null, event: CorrectionEvent): CorrectionState | null => {
  if (event.type === 'CorrectionProposed')
    return {
      proposed: event.data,
      proposal: statementDigest(event),
      status: 'proposed',
      approved: null,
      ended: null,
      noted: [],
      earlier: state ? [...state.earlier, state.proposal] : [],
    };
  if (!state) return null;
  const { type, data } = event;
  switch (type) {
    case 'CorrectionApproved':
      return { ...state, status: 'approved', approved: data };
    case 'CorrectionRejected':
      return { ...state, status: 'rejected', ended: data };
    case 'CorrectionWithdrawn':
      return { ...state, status: 'withdrawn', ended: data };
    case 'CorrectionBooked':
      return { ...state, noted: [...new Set([...state.noted, ...data.positions])] };
    default:
      return assertNever(type);
  }
};

/**
 * A proposal that nobody approved in time has expired.
 * @param now milliseconds
 * @param booked positions of the entries that their books have
 */
export const statusAt = (
  { status, proposed, approved }: CorrectionState,
  now: number,
  booked: readonly number[],
): CorrectionStatus => {
  if (approved && booked.length === proposed.entries.length) return 'booked';
  return status === 'proposed' && Date.parse(proposed.expiresAt) <= now ? 'expired' : status;
};

/** What limits count: credits without their signs. */
export const creditsOf = ({ entries }: Pick<Data<'CorrectionProposed'>, 'entries'>): number =>
  entries.reduce((sum, { amount }) => sum + Math.abs(amount), 0);

/** The id under which a book knows an entry: the same for every attempt to book it. */
export const adjustmentIdOf = (proposal: string, position: number): string =>
  uuid5(proposal, String(position));
