import type { Decider } from '@app/event-sourcing/core/decider.js';
import { accept, ignore, reject, type Rejection } from '@app/event-sourcing/core/decision.js';
import type { CorrectionDayEvent } from '../../contracts/corrections.js';

/** What was signed on one day. */
export type CorrectionDay = readonly CorrectionDayEvent['data'][];

export interface CorrectionDayCommand {
  readonly count: CorrectionDayEvent['data'];
  /** CORRECTION_DAILY_CREDITS, of proposals and approvals together. */
  readonly dailyCredits: number;
}

export type CorrectionDayRejection = Rejection<
  'AboveLimit',
  { readonly limit: string; readonly value: number; readonly credits: number; readonly used: number }
>;

/** The credits that each operator has signed for on a day. What is counted stays counted. */
export const correctionDay: Decider<
  CorrectionDayCommand,
  CorrectionDayEvent,
  CorrectionDay,
  CorrectionDayRejection
> = {
  initialState: [],
  decide: ({ count, dailyCredits }, day) => {
    const { operator, correctionId, act, credits } = count;
    const own = day.filter((one) => one.operator === operator);
    const isCounted = own.some(
      (one) => one.correctionId === correctionId && one.act === act && one.credits === credits,
    );
    if (isCounted) return ignore('AlreadyCounted');
    const used = own.reduce((sum, one) => sum + one.credits, 0);
    if (used + credits <= dailyCredits) return accept({ type: 'CorrectionCounted', data: count });
    return reject('AboveLimit', { limit: 'CORRECTION_DAILY_CREDITS', value: dailyCredits, credits, used });
  },
  evolve: (day, { data }) => [...day, data],
};
