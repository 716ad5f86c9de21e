import type { Allocation, Grant } from '../../contracts/events.js';

const expiry = ({ expiresAt }: Grant): number => (expiresAt === null ? Infinity : Date.parse(expiresAt));
const rank = ({ kind }: Grant): number => (kind === 'plan' ? 0 : 1);

export const hasExpired = (grant: Grant, now: number): boolean => expiry(grant) <= now;

/** The order in which grants are spent: soonest expiry first, plan before pack, oldest first. */
export const inBurnOrder = (grants: readonly Grant[]): Grant[] =>
  grants.toSorted((a, b) => (expiry(a) === expiry(b) ? 0 : expiry(a) - expiry(b)) || rank(a) - rank(b));

/** Takes an amount from the grants in burn order. `null` when they do not hold enough. */
export const allocate = (grants: readonly Grant[], amount: number): Allocation[] | null => {
  const allocations: Allocation[] = [];
  let missing = amount;
  for (const { grantId, remaining } of inBurnOrder(grants)) {
    const taken = Math.min(missing, remaining);
    if (taken > 0) allocations.push({ grantId, amount: taken });
    missing -= taken;
    if (missing === 0) return allocations;
  }
  return null;
};
