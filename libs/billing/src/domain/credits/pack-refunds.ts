import type { CreditsEventOf } from '../../contracts/events.js';
import { worth } from './value.js';

/** An entry that took back credits of a bought pack, which its reversal brings back. */
export interface PackRefund {
  /** The grants that it took from. */
  readonly grantIds: readonly string[];
  /** Positive. */
  readonly credits: number;
  /** Their value in cents. */
  readonly cents: number;
}

/** What an entry restores that reverses the refund of a pack. */
export type Restores = NonNullable<CreditsEventOf<'CreditsAdjusted'>['data']['restores']>;

/**
 * What the next entry restores. Credits come back in order, so all parts together restore the value of the refund to the
 * cent.
 * @param reversed credits that came back before
 * @param amount credits that come back now
 */
export const restored = (refund: PackRefund, reversed: number, amount: number): Restores => {
  const { grantIds, credits, cents } = refund;
  const priceCents = worth(credits, cents, reversed + amount) - worth(credits, cents, reversed);
  return { grantIds: [...grantIds], priceCents };
};
