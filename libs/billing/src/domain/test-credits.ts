import { instant } from '#event-sourcing/core/clock.js';
import { type Decider, accept } from '#event-sourcing/core/decider.js';
import type { CreditsEvent } from '../contracts/events.js';
import { balanceOf } from './postings.js';
import { type CreditsCommand, type CreditsRejection, credits } from './credits.decider.js';
import { evolve, type Credits } from './credits.state.js';
import { dueBy, stateAt } from './due.js';

/** Credits of a full test book. */
export const TEST_CREDITS = 10_000;

const DAY_MS = 86_400_000;
const FILLED_BY = 'billing.test-credits';

/**
 * How a test book behaves: as a credit book that the first reservation of each UTC day fills up. Available and held
 * credits are then TEST_CREDITS together. The credits are a correction without value, and do not expire. No settlement
 * fills a book, so that a reading of yesterday does not use up today's fill.
 */
export const testCredits: Decider<CreditsCommand, CreditsEvent, Credits, CreditsRejection> = {
  ...credits,
  decide: (command, book) => {
    const due = dueBy(book, command.now);
    const isReservation = command.type === 'ReserveCredits';
    const fill = isReservation && due.isAll ? dueFill(due.state, command.now) : null;
    if (!fill) return credits.decide(command, book);
    const decision = credits.decide(command, evolve(due.state, fill));
    return decision.kind === 'accept' ? accept(...due.events, fill, ...decision.events) : decision;
  },
};

/** The book as a reservation at this time (ms) would find it: for readers, which record nothing. */
export const filledAt = (book: Credits, now: number): Credits => {
  const state = stateAt(book, now);
  const fill = dueFill(state, now);
  return fill ? evolve(state, fill) : state;
};

/** The fill that a reservation records first; `null`: the day has its fill. A fill of 0 takes the day, too. */
const dueFill = (book: Credits, now: number): CreditsEvent | null => {
  if (book.workspaceId === null || isFilledOn(book, now)) return null;
  const day = dayOf(now);
  const { available, held } = balanceOf(book);
  const amount = Math.max(0, TEST_CREDITS - available - held);
  const adjustmentId = `test:${book.adjustmentIds.length + 1}:${day}`;
  return {
    type: 'CreditsAdjusted',
    data: {
      adjustmentId,
      amount,
      allocations: amount === 0 ? [] : [{ grantId: `adjustment:${adjustmentId}`, amount }],
      reason: 'test credits of the day',
      approvedBy: FILLED_BY,
      reversesEventId: null,
      reference: day,
      actor: `system:${FILLED_BY}`,
    },
  };
};

/**
 * Whether the last fill is that of the day. At midnight, another process may be in the next day already. A fill of a later
 * day is the work of a wrong clock: it does not count, or the book would stay empty until that day.
 */
const isFilledOn = ({ adjustmentIds }: Credits, now: number): boolean => {
  const last = adjustmentIds.at(-1)?.slice(-'yyyy-mm-dd'.length) ?? '';
  return dayOf(now) <= last && last <= dayOf(now + DAY_MS);
};

const dayOf = (at: number): string => instant(at).slice(0, 10);
