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
  readonly status: Exclude<CorrectionStatus, 'expired'>;
  readonly approved: Data<'CorrectionApproved'> | null;
  readonly ended: Data<'CorrectionRejected'> | null;
  /** Positions of entries that are in their books. */
  readonly booked: readonly number[];
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
      booked: [],
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
    case 'CorrectionBooked': {
      const booked = [...new Set([...state.booked, ...data.positions])];
      const isDone = booked.length === state.proposed.entries.length;
      return { ...state, booked, status: isDone ? 'booked' : state.status };
    }
    default:
      return assertNever(type);
  }
};

/** A proposal that nobody approved in time has expired. @param now milliseconds */
export const statusAt = ({ status, proposed }: CorrectionState, now: number): CorrectionStatus =>
  status === 'proposed' && Date.parse(proposed.expiresAt) <= now ? 'expired' : status;

/** What limits count: credits without their signs. */
export const creditsOf = ({ entries }: Pick<Data<'CorrectionProposed'>, 'entries'>): number =>
  entries.reduce((sum, { amount }) => sum + Math.abs(amount), 0);

/** The id under which a book knows an entry: the same for every attempt to book it. */
export const adjustmentIdOf = (proposal: string, position: number): string =>
  uuid5(proposal, String(position));
