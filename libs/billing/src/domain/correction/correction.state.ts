import { assertNever } from '@app/event-sourcing/core/decision.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type {
  CorrectionEntry,
  CorrectionEvent,
  CorrectionEventOf,
  CorrectionStatus,
} from '../../contracts/corrections.js';
import { statementDigest } from '../signed-text.js';

type Data<T extends CorrectionEvent['type']> = CorrectionEventOf<T>['data'];

/** A proposal of a correction, and who approved it. */
export interface Attempt {
  readonly proposed: Data<'CorrectionProposed'>;
  /** What both operators sign. */
  readonly proposal: string;
  readonly approved: Data<'CorrectionApproved'> | null;
}

/** The last proposal of a correction, and what became of it. */
export interface CorrectionState extends Attempt {
  /** As far as the stream says. */
  readonly status: Exclude<CorrectionStatus, 'expired' | 'booked'>;
  readonly ended: Data<'CorrectionRejected'> | null;
  /** Positions that somebody recorded as booked. Only the books prove it. */
  readonly noted: readonly number[];
  /** The proposals before this one: none of them comes back. What they booked stays in its books. */
  readonly earlier: readonly Attempt[];
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
      earlier: attemptsOf(state),
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

/** All proposals of a correction so far, oldest first. */
export const attemptsOf = (state: CorrectionState | null): readonly Attempt[] => {
  if (!state) return [];
  const { earlier, proposed, proposal, approved } = state;
  return [...earlier, { proposed, proposal, approved }];
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

/**
 * The ids of entries that this one would repeat: entries of earlier proposals of its correction that move credits of the
 * same book in the same direction, and reverse the same entry or none.
 */
export const repeatedBy = (entry: CorrectionEntry, earlier: readonly Attempt[]): readonly string[] =>
  earlier.flatMap(({ proposed, proposal }) =>
    proposed.entries.flatMap((one, position) =>
      isRepeated(one, entry) ? [adjustmentIdOf(proposal, position)] : [],
    ),
  );

const isRepeated = (one: CorrectionEntry, other: CorrectionEntry): boolean =>
  one.workspaceId === other.workspaceId &&
  one.reversesEventId === other.reversesEventId &&
  one.amount > 0 === other.amount > 0;
