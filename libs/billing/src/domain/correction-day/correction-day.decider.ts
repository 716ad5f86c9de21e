import type { Decider } from '@app/event-sourcing/core/decider.js';
import { accept, reject, type Rejection } from '@app/event-sourcing/core/decision.js';
import type { CorrectionDayEvent } from '../../contracts/corrections.js';

/** A count, and when the store recorded it (ms since the epoch; absent: just now). */
type Count = CorrectionDayEvent['data'] & { readonly recordedAt?: number };

/** What operators were about to sign on one day. Whether they did, the corrections themselves say. */
export type CorrectionDay = readonly Count[];

export interface CorrectionDayCommand {
  readonly count: CorrectionDayEvent['data'];
  /** CORRECTION_DAILY_CREDITS, of proposals and approvals together. */
  readonly dailyCredits: number;
  /** The first counts of the day, as many as were looked up, and the operator's credits in them. */
  readonly known: { readonly counts: number; readonly credits: number };
}

export type CorrectionDayRejection = Rejection<
  'AboveLimit',
  { readonly limit: string; readonly value: number; readonly credits: number; readonly used: number }
>;

/** Keeps operators to the credits of a day. What another command has counted since the look-up counts in full. */
export const correctionDay: Decider<
  CorrectionDayCommand,
  CorrectionDayEvent,
  CorrectionDay,
  CorrectionDayRejection
> = {
  initialState: [],
  decide: ({ count, dailyCredits, known }, day) => {
    const { operator, credits } = count;
    const since = day.slice(known.counts).filter((one) => one.operator === operator && !isSame(one, count));
    const used = since.reduce((sum, one) => sum + one.credits, known.credits);
    if (used + credits <= dailyCredits) return accept({ type: 'CorrectionCounted', data: count });
    return reject('AboveLimit', { limit: 'CORRECTION_DAILY_CREDITS', value: dailyCredits, credits, used });
  },
  evolve: (day, { data, ...event }) => {
    const { recordedAt } = event as { readonly recordedAt?: number };
    return [...day, recordedAt === undefined ? data : { ...data, recordedAt }];
  },
};

/** Whether two counts are of the same operator's part in one correction, perhaps of two attempts at it. */
export const isSame = (one: CorrectionDayEvent['data'], other: CorrectionDayEvent['data']): boolean =>
  one.operator === other.operator && one.correctionId === other.correctionId && one.act === other.act;
