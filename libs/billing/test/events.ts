import type { CreditsEventOf } from '../src/contracts/events.js';
import { PACKS, PLANS, type PackId, type PlanId } from '../src/contracts/catalogue.js';

/** Short constructors for the events of a book, for specs. Times are ISO days or instants. */
export const at = (text: string): number => Date.parse(text);
const iso = (text: string): string => new Date(text).toISOString();

export const bookOpened = (period = '2026-04'): CreditsEventOf<'BookOpened'> => ({
  type: 'BookOpened',
  data: { workspaceId: 'ws_1', period },
});

export const subscribed = (
  plan: PlanId,
  startedAt: string,
  subscriptionId = 'sub1',
  approvalRef: string | null = null,
): CreditsEventOf<'SubscriptionStarted'> => ({
  type: 'SubscriptionStarted',
  data: {
    subscriptionId,
    plan,
    anchorDay: new Date(startedAt).getUTCDate(),
    startedAt: iso(startedAt),
    approvalRef,
    actor: 'operator:ada',
  },
});

export const planGranted = (
  plan: PlanId,
  validFrom: string,
  expiresAt: string,
  subscriptionId = 'sub1',
): CreditsEventOf<'PlanGranted'> => ({
  type: 'PlanGranted',
  data: {
    grantId: `plan:${subscriptionId}:${validFrom.slice(0, 7)}`,
    plan,
    credits: PLANS[plan].creditsPerMonth,
    validFrom: iso(validFrom),
    expiresAt: iso(expiresAt),
    priceCents: PLANS[plan].priceCents,
  },
});

export const packPurchased = (pack: PackId, orderRef: string): CreditsEventOf<'PackPurchased'> => ({
  type: 'PackPurchased',
  data: {
    grantId: `pack:${orderRef}:${pack}`,
    pack,
    orderRef,
    credits: PACKS[pack].credits,
    priceCents: PACKS[pack].priceCents,
    actor: 'operator:ada',
  },
});

/** By default at once, at the time of the specs' commands. */
export const cancelled = (
  effectiveAt = '2026-04-10T12:00:00.000Z',
): CreditsEventOf<'SubscriptionCancelled'> => ({
  type: 'SubscriptionCancelled',
  data: {
    subscriptionId: 'sub1',
    plan: 'studio',
    effectiveAt: iso(effectiveAt),
    reference: null,
    actor: 'operator:ada',
  },
});

export const planChanged = (plan: PlanId, effectiveAt: string): CreditsEventOf<'SubscriptionChanged'> => ({
  type: 'SubscriptionChanged',
  data: {
    subscriptionId: 'sub1',
    previousPlan: 'studio',
    plan,
    approvalRef: null,
    effectiveAt: iso(effectiveAt),
    actor: 'operator:ada',
  },
});

export const reserved = (
  reservationId: string,
  ...allocations: readonly (readonly [grantId: string, amount: number])[]
): CreditsEventOf<'CreditsReserved'> => ({
  type: 'CreditsReserved',
  data: {
    reservationId,
    readingId: `reading of ${reservationId}`,
    amount: allocations.reduce((sum, [, amount]) => sum + amount, 0),
    allocations: allocations.map(([grantId, amount]) => ({ grantId, amount })),
  },
});

export const captured = (reservationId: string, amount = 20): CreditsEventOf<'CreditsCaptured'> => ({
  type: 'CreditsCaptured',
  data: {
    reservationId,
    readingId: `reading of ${reservationId}`,
    amount,
    causeEventId: `end of ${reservationId}`,
  },
});

export const released = (
  reservationId: string,
  ...allocations: readonly (readonly [grantId: string, amount: number, to: 'available' | 'expired'])[]
): CreditsEventOf<'CreditsReleased'> => ({
  type: 'CreditsReleased',
  data: {
    reservationId,
    readingId: `reading of ${reservationId}`,
    amount: allocations.reduce((sum, [, amount]) => sum + amount, 0),
    allocations: allocations.map(([grantId, amount, to]) => ({ grantId, amount, to })),
    causeEventId: `end of ${reservationId}`,
  },
});

export const expired = (
  grantId: string,
  amount: number,
  expiredAt: string,
): CreditsEventOf<'GrantExpired'> => ({
  type: 'GrantExpired',
  data: { grantId, amount, expiredAt: iso(expiredAt) },
});
