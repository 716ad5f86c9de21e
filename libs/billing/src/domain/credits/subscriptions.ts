import { instant } from '#event-sourcing/core/clock.js';
import { accept, ignore, reject, type Decision } from '#event-sourcing/core/decision.js';
import { PLANS } from '../../contracts/catalogue.js';
import type { CreditsEvent, CreditsEventOf, Subscription } from '../../contracts/events.js';
import type { CreditsCommand, CreditsRejection } from './credits.commands.js';
import { evolve, type Credits } from './credits.state.js';
import { dueBy, type DueEvents } from './due.js';

type Of<T extends CreditsCommand['type']> = Extract<CreditsCommand, { type: T }>;
type SubscriptionDecision = Decision<CreditsEvent, CreditsRejection>;

/** The subscription that grants or has granted the present month; `null` when there is none, or it has ended. */
export const currentSubscription = (
  { subscription }: Pick<Credits, 'subscription'>,
  now: number,
): Subscription | null =>
  subscription?.endsAt && Date.parse(subscription.endsAt) <= now ? null : subscription;

/**
 * A first subscription grants its month at once. A change takes effect with the next grant, or now: then the present
 * subscription ends, and another one grants its first month. A change to the present plan takes back an earlier change or
 * a cancellation, whenever it takes effect: its month is granted already.
 */
export const subscribe = (
  command: Of<'SubscribeToPlan'>,
  { events, state }: DueEvents,
): SubscriptionDecision => {
  const { plan, approvalRef, now, when = 'period_end', actor } = command;
  const current = currentSubscription(state, now);
  if (!current && command.onlyChange) return reject('NotSubscribed', null);
  const isPresent = current?.plan === plan;
  const isAgreed = current && !current.endsAt && (current.nextPlan ?? current.plan) === plan;
  if (isAgreed && (when === 'period_end' || isPresent)) return ignore('AlreadySubscribed');
  if (PLANS[plan].approvalRequired && !approvalRef) return reject('ApprovalRequired', { plan });
  if (current && (when === 'period_end' || isPresent)) {
    const { subscriptionId, plan: previousPlan, nextGrantAt: effectiveAt } = current;
    const data = { subscriptionId, previousPlan, plan, approvalRef, effectiveAt, actor };
    return accept(...events, { type: 'SubscriptionChanged', data });
  }
  const started = starts(state, command, actor);
  const own = current ? [ends(current, instant(now), null, actor), started] : [started];
  const after = own.reduce(evolve, state);
  return accept(...events, ...own, ...dueBy(after, now).events);
};

const starts = (
  { subscriptions }: Credits,
  { plan, approvalRef, now }: Of<'SubscribeToPlan'>,
  actor: string,
): CreditsEvent => {
  const startedAt = instant(now);
  const subscriptionId = `sub${subscriptions + 1}`;
  const anchorDay = Number(startedAt.slice(8, 10));
  const data = { subscriptionId, plan, anchorDay, startedAt, approvalRef, actor };
  return { type: 'SubscriptionStarted', data };
};

/** Credits already granted stay until they expire: taking them is a correction. */
export const cancel = (
  command: Of<'CancelSubscription'>,
  { events, state }: DueEvents,
): SubscriptionDecision => {
  const { now, when = 'period_end', reference = null, actor } = command;
  const current = currentSubscription(state, now);
  if (!current) return ignore('NotSubscribed');
  if (when === 'period_end' && current.endsAt) return ignore('AlreadyCancelled');
  const effectiveAt = when === 'now' ? instant(now) : current.nextGrantAt;
  return accept(...events, ends(current, effectiveAt, reference, actor));
};

const ends = (
  { subscriptionId, plan }: Subscription,
  effectiveAt: string,
  reference: string | null,
  actor: string,
): CreditsEventOf<'SubscriptionCancelled'> => ({
  type: 'SubscriptionCancelled',
  data: { subscriptionId, plan, effectiveAt, reference, actor },
});
