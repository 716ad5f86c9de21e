import { assertNever } from '#event-sourcing/core/decision.js';
import type { EntryValue } from '../../contracts/corrections.js';
import type { CreditsEvent, CreditsEventOf, Grant } from '../../contracts/events.js';
import { holdOf, type Credits } from './credits.state.js';

/** What the value of credits counts as that leave a grant for good: by a reading, by expiry, or by a correction. */
export type Use = EntryValue['as'];

/** Credits of one grant that left it for good, and their value. */
export interface UsedCredits {
  readonly use: Use;
  readonly grantId: string;
  readonly credits: number;
  readonly cents: number;
}

/**
 * Value of the first `count` credits of a grant, in cents: price × count / credits, rounded down.
 *
 * Largest remainder: each credit is worth ⌊price / credits⌋ cents, and the cents left over fall evenly on the credits,
 * one each. So a part is never off by a whole cent, and all parts of a grant sum to its price.
 */
export const worth = (credits: number, priceCents: number, count: number): number => {
  const product = priceCents * count;
  return Number.isSafeInteger(product)
    ? Math.floor(product / credits)
    : Number((BigInt(priceCents) * BigInt(count)) / BigInt(credits));
};

/** Credits of a grant that left it for good. */
const used = ({ credits, remaining, held }: Grant): number => credits - remaining - held;

/** What an event takes out of the grants for good, in the order of its allocations. */
export const usedBy = (event: CreditsEvent, before: Credits): UsedCredits[] => {
  const started = new Map<string, number>();
  return leaving(event, before).flatMap(({ use, grantId, amount }) => {
    const grant = before.grants.find((one) => one.grantId === grantId);
    if (!grant) return [];
    const from = started.get(grantId) ?? used(grant);
    started.set(grantId, from + amount);
    const { credits, priceCents } = grant;
    const cents = worth(credits, priceCents, from + amount) - worth(credits, priceCents, from);
    return [{ use, grantId, credits: amount, cents }];
  });
};

/** Value of the credits that grants still have, available or held. */
export const deferredIn = (grants: readonly Grant[]): number =>
  grants.reduce(
    (sum, grant) => sum + grant.priceCents - worth(grant.credits, grant.priceCents, used(grant)),
    0,
  );

/** What the value of a correction counts as. */
export const usedAs = ({ counts }: Pick<CreditsEventOf<'CreditsAdjusted'>['data'], 'counts'>): Use =>
  counts?.as ?? 'corrections';

/** The value that a correction moves. @param used what it took from grants */
export const entryValue = (
  { restores, counts }: Pick<CreditsEventOf<'CreditsAdjusted'>['data'], 'restores' | 'counts'>,
  used: readonly UsedCredits[],
): EntryValue => ({
  as: usedAs({ counts }),
  of: counts?.of ?? null,
  cents: used.reduce((sum, { cents }) => sum + cents, -(restores?.priceCents ?? 0)),
});

interface Leaving {
  readonly use: Use;
  readonly grantId: string;
  readonly amount: number;
}

const leaving = ({ type, data }: CreditsEvent, before: Credits): Leaving[] => {
  switch (type) {
    case 'CreditsCaptured':
      return (holdOf(before, data.reservationId)?.allocations ?? []).map((one) => ({
        ...one,
        use: 'earned',
      }));
    case 'CreditsReleased':
      return data.allocations
        .filter(({ to }) => to === 'expired')
        .map(({ grantId, amount }) => ({ use: 'breakage', grantId, amount }));
    case 'GrantExpired':
      return [{ use: 'breakage', grantId: data.grantId, amount: data.amount }];
    case 'CreditsAdjusted':
      return data.allocations
        .filter(({ amount }) => amount < 0)
        .map(({ grantId, amount }) => ({ use: usedAs(data), grantId, amount: -amount }));
    case 'BookOpened':
    case 'SubscriptionStarted':
    case 'SubscriptionChanged':
    case 'SubscriptionCancelled':
    case 'PlanGranted':
    case 'PackPurchased':
    case 'CreditsReserved':
    case 'PeriodCarried':
    case 'PeriodClosed':
      return [];
    default:
      return assertNever(type);
  }
};
