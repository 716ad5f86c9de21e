import type { Correction, CorrectionStatus } from '../contracts/corrections.js';
import {
  MOST_REPAIRS,
  type DateAdjustment,
  type DatePlan,
  type DateRepair,
  type OpenDateRepair,
} from '../contracts/date-repair.js';

const isOpen = (status: CorrectionStatus): status is OpenDateRepair['status'] =>
  status === 'proposed' || status === 'approved';

/**
 * The plan without what is in an open correction, and how much of it the next proposal takes.
 * @param corrections that were ever proposed, of any kind and book
 * @param maxCredits CORRECTION_MAX_CREDITS
 */
export const withoutProposed = (
  plan: DatePlan,
  corrections: readonly Correction[],
  maxCredits: number,
): DateRepair => {
  const taken = new Set<string>();
  const planned = new Set(plan.adjustments.map(({ reference }) => reference));
  const open = corrections.flatMap(({ correctionId, kind, reference, status, entries }) => {
    if (kind !== 'date_repair' || !isOpen(status)) return [];
    const own = entries.filter(
      (entry) => entry.workspaceId === plan.workspaceId && planned.has(entry.reference) && !entry.booked,
    );
    for (const entry of own) taken.add(entry.reference);
    return own.length === 0 ? [] : [{ correctionId, reference, status, entries: own.length }];
  });
  const adjustments = plan.adjustments.filter(({ reference }) => !taken.has(reference));
  return { ...plan, adjustments, next: nextOf(adjustments, maxCredits), open };
};

const nextOf = (adjustments: readonly DateAdjustment[], maxCredits: number): number => {
  let [next, credits] = [0, 0];
  for (const group of byReversed(adjustments)) {
    credits += group.reduce((sum, { amount }) => sum + Math.abs(amount), 0);
    const fits = next + group.length <= MOST_REPAIRS && credits <= maxCredits;
    if (next > 0 && !fits) break;
    next += group.length;
  }
  return next;
};

/** A plan lists what reverses one entry together. */
const byReversed = (adjustments: readonly DateAdjustment[]): DateAdjustment[][] => {
  const groups: DateAdjustment[][] = [];
  for (const one of adjustments) {
    const last = groups.at(-1);
    if (last?.[0]!.reversesEventId === one.reversesEventId) last.push(one);
    else groups.push([one]);
  }
  return groups;
};
