import { instant } from '@app/event-sourcing/core/clock.js';
import { PLANS } from '../../contracts/catalogue.js';
import type { CreditsEvent, CreditsEventOf, Grant, Subscription } from '../../contracts/events.js';
import { valuesOf } from './bucket-map.js';
import { endOfMonth, monthAfter, nextAnchor } from './calendar.js';
import { evolve, noBook, type Credits } from './credits.state.js';
import { balances } from './postings.js';
import { listRecent, noRecentIds } from './recent-ids.js';

interface Due {
  /** Milliseconds. */
  readonly at: number;
  readonly event: () => CreditsEvent;
}

/**
 * Everything due in a book by `now` (milliseconds), in the order in which it fell due: expiries, monthly grants and
 * closed months. Every decision records it first, so a correct balance needs no timer.
 *
 * At one instant, credits expire before the month is closed, and the new month is granted after it.
 */
export const dueBy = (book: Credits, now: number): { events: CreditsEvent[]; state: Credits } => {
  const events: CreditsEvent[] = [];
  let state = book;
  for (let next = nextDue(state, now); next && next.at <= now; next = nextDue(state, now)) {
    const event = next.event();
    events.push(event);
    state = evolve(state, event);
  }
  return { events, state };
};

/** The parts of a book that decide when something is next due in it. */
export type Agenda = Pick<Credits, 'period' | 'subscription' | 'grants'>;

/** When something is next due in an open book: a grant, an expiry or the end of the month, whichever comes first. */
export const nextDueAt = (agenda: Agenda): string => instant(firstOf({ ...noBook, ...agenda }, 0).at);

const nextDue = (state: Credits, now: number): Due | null =>
  state.workspaceId === null ? null : firstOf(state, now);

const firstOf = (state: Credits, now: number): Due => {
  const candidates: Due[] = [
    ...state.grants.flatMap(expiry),
    { at: endOfMonth(state.period), event: () => periodClosed(state, now) },
    ...(state.subscription && !state.subscription.endsAt ? [monthlyGrant(state.subscription)] : []),
  ];
  return candidates.reduce((first, other) => (other.at < first.at ? other : first));
};

const expiry = ({ grantId, remaining, expiresAt }: Grant): Due[] =>
  expiresAt === null || remaining === 0
    ? []
    : [
        {
          at: Date.parse(expiresAt),
          event: () => ({ type: 'GrantExpired', data: { grantId, amount: remaining, expiredAt: expiresAt } }),
        },
      ];

const monthlyGrant = (subscription: Subscription): Due => {
  const { subscriptionId, anchorDay, nextGrantAt, plan: current } = subscription;
  const plan = subscription.nextPlan ?? current;
  const at = Date.parse(nextGrantAt);
  return {
    at,
    event: () => ({
      type: 'PlanGranted',
      data: {
        grantId: `plan:${subscriptionId}:${nextGrantAt.slice(0, 7)}`,
        plan,
        credits: PLANS[plan].creditsPerMonth,
        validFrom: nextGrantAt,
        expiresAt: instant(nextAnchor(at, anchorDay)),
        priceCents: PLANS[plan].priceCents,
      },
    }),
  };
};

/**
 * The settled reservations that the close of the open month carries. None when the month after it is over as well:
 * retries never come a month late, and a run of idle months stays small.
 * @param now of the close, in milliseconds
 */
export const settledToCarry = (
  { period, settled }: Pick<Credits, 'period' | 'settled'>,
  now: number,
): ReturnType<typeof listRecent> => listRecent(now < endOfMonth(monthAfter(period)) ? settled : noRecentIds);

/** The close of the open month. It carries the whole book. @param now milliseconds */
export const periodClosed = (state: Credits, now: number): CreditsEventOf<'PeriodClosed'> => ({
  type: 'PeriodClosed',
  data: {
    workspaceId: state.workspaceId!,
    period: state.period,
    opening: state.opening,
    totals: state.totals,
    closing: balances(state.opening, state.totals),
    subscription: state.subscription,
    subscriptions: state.subscriptions,
    openGrants: [...state.grants],
    openHolds: valuesOf(state.holds),
    settled: settledToCarry(state, now),
    orderRefs: [...state.orderRefs],
    adjustmentIds: [...state.adjustmentIds],
    eventCount: state.eventCount,
  },
});
