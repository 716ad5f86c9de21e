import type { SubscriptionSummary } from '../../contracts/commands.js';
import type { Subscription } from '../../contracts/events.js';

export const subscriptionSummary = (subscription: Subscription): SubscriptionSummary => {
  const { subscriptionId, plan, nextGrantAt, nextPlan, endsAt } = subscription;
  return { subscriptionId, plan, nextGrantAt, nextPlan: nextPlan ?? null, endsAt: endsAt ?? null };
};
