import { given } from '#event-sourcing/testing/decider-spec.js';
import type { PackId, PlanId } from '../src/contracts/catalogue.js';
import type { CreditsEvent } from '../src/contracts/events.js';
import { type CreditsCommand, credits } from '../src/domain/credits.decider.js';
import { adjustment } from './adjustment.js';
import { at, bookOpened, planGranted, subscribed } from './events.js';

/** When commands are given, unless a case says otherwise. */
export const NOW = '2026-04-10T12:00:00.000Z';

/** An open book with a history. */
export const book = (...events: readonly CreditsEvent[]) => given(credits, [bookOpened(), ...events]);
export const reserve = (reservationId: string, amount = 20, now = NOW): CreditsCommand => ({
  type: 'ReserveCredits',
  reservations: [{ reservationId, readingId: `reading of ${reservationId}` }],
  amount,
  all: true,
  now: at(now),
});
export const capture = (reservationId: string, now = NOW): CreditsCommand => ({
  type: 'CaptureCredits',
  reservationId,
  causeEventId: `end of ${reservationId}`,
  now: at(now),
});
export const release = (reservationId: string, now = NOW): CreditsCommand =>
  ({
    ...capture(reservationId, now),
    type: 'ReleaseCredits',
  }) as CreditsCommand;
export const subscribe = (plan: PlanId, approvalRef: string | null = null, now = NOW): CreditsCommand => ({
  type: 'SubscribeToPlan',
  plan,
  approvalRef,
  now: at(now),
  actor: 'operator:ada',
});
export const purchase = (pack: PackId, orderRef: string, now = NOW): CreditsCommand => ({
  type: 'PurchasePack',
  pack,
  orderRef,
  now: at(now),
  actor: 'operator:ada',
});
export const adjust = (adjustmentId: string, amount: number): CreditsCommand => ({
  ...adjustment({ adjustmentId, amount }),
  now: at(NOW),
});
export const adjusted = (
  adjustmentId: string,
  amount: number,
  ...allocations: (readonly [string, number])[]
): CreditsEvent => ({
  type: 'CreditsAdjusted',
  data: {
    adjustmentId,
    amount,
    allocations: allocations.map(([grantId, part]) => ({ grantId, amount: part })),
    reason: 'goodwill',
    approvedBy: 'grace',
    reversesEventId: null,
    reference: 'INC-42',
    actor: 'operator:ada',
  },
});

export const studio = [
  subscribed('studio', '2026-04-05'),
  planGranted('studio', '2026-04-05', '2026-05-05'),
] as const;
export const APRIL = 'plan:sub1:2026-04';
