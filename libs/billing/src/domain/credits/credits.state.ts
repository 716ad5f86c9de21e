import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Accounts, CreditsEvent, Grant, Hold, Subscription, Totals } from '../../contracts/events.js';
import { bucketMap, getFrom, withEntry, withoutEntry, type BucketMap } from './bucket-map.js';
import { monthAfter } from './calendar.js';
import { emptyAccounts, emptyTotals, post, postings } from './postings.js';
import { isRecent, noRecentIds, recentFrom, remember, type RecentIds } from './recent-ids.js';

/** A credit book, folded. `PeriodClosed` carries all of it. */
export interface Credits {
  /** `null` until the book is opened. */
  readonly workspaceId: string | null;
  /** The month (`yyyy-mm`, UTC) whose books are open. */
  readonly period: string;
  readonly opening: Accounts;
  readonly totals: Totals;
  readonly subscription: Subscription | null;
  readonly subscriptions: number;
  /** Grants with credits left or held, oldest first. */
  readonly grants: readonly Grant[];
  readonly holds: BucketMap<Hold>;
  readonly settled: RecentIds;
  readonly orderRefs: readonly string[];
  readonly adjustmentIds: readonly string[];
  readonly eventCount: number;
}

export const noBook: Credits = {
  workspaceId: null,
  period: '',
  opening: emptyAccounts,
  totals: emptyTotals,
  subscription: null,
  subscriptions: 0,
  grants: [],
  holds: bucketMap(),
  settled: noRecentIds,
  orderRefs: [],
  adjustmentIds: [],
  eventCount: 0,
};

export const available = ({ opening, totals }: Credits): number =>
  opening.available + totals.available.credit - totals.available.debit;

export const holdOf = (state: Credits, reservationId: string): Hold | undefined =>
  getFrom(state.holds, reservationId);

export const isSettled = (state: Credits, reservationId: string): boolean =>
  isRecent(state.settled, reservationId);

/** The book after an event. */
export const evolve = (state: Credits, event: CreditsEvent): Credits => ({
  ...apply(state, event),
  totals: event.type === 'PeriodClosed' ? emptyTotals : post(state.totals, postings(event)),
  eventCount: (event.type === 'PeriodClosed' ? event.data.eventCount : state.eventCount) + 1,
});

const apply = (state: Credits, event: CreditsEvent): Credits => {
  switch (event.type) {
    case 'BookOpened':
      return { ...state, workspaceId: event.data.workspaceId, period: event.data.period };
    case 'SubscriptionStarted': {
      const { subscriptionId, plan, anchorDay, startedAt } = event.data;
      return {
        ...state,
        subscription: { subscriptionId, plan, anchorDay, nextGrantAt: startedAt },
        subscriptions: state.subscriptions + 1,
      };
    }
    case 'SubscriptionChanged':
      return {
        ...state,
        subscription: state.subscription && { ...state.subscription, plan: event.data.plan },
      };
    case 'SubscriptionCancelled':
      return { ...state, subscription: null };
    case 'PlanGranted': {
      const { grantId, credits, expiresAt } = event.data;
      return {
        ...state,
        subscription: state.subscription && { ...state.subscription, nextGrantAt: expiresAt },
        grants: [...state.grants, newGrant(grantId, 'plan', credits, expiresAt)],
      };
    }
    case 'PackPurchased': {
      const { grantId, credits, orderRef } = event.data;
      return {
        ...state,
        grants: [...state.grants, newGrant(grantId, 'pack', credits, null)],
        orderRefs: [...state.orderRefs, orderRef],
      };
    }
    case 'CreditsReserved':
      return {
        ...state,
        grants: event.data.allocations.reduce(
          (grants, { grantId, amount }) => change(grants, grantId, -amount, amount),
          state.grants,
        ),
        holds: withEntry(state.holds, event.data.reservationId, event.data),
      };
    case 'CreditsCaptured': {
      const allocations = holdOf(state, event.data.reservationId)?.allocations ?? [];
      return settle(state, event.data.reservationId, (grants) =>
        allocations.reduce((rest, { grantId, amount }) => change(rest, grantId, 0, -amount), grants),
      );
    }
    case 'CreditsReleased':
      return settle(state, event.data.reservationId, (grants) =>
        event.data.allocations.reduce(
          (rest, { grantId, amount, to }) => change(rest, grantId, to === 'available' ? amount : 0, -amount),
          grants,
        ),
      );
    case 'GrantExpired':
      return { ...state, grants: change(state.grants, event.data.grantId, -event.data.amount, 0) };
    case 'CreditsAdjusted': {
      const { adjustmentId, amount, allocations } = event.data;
      const grants =
        amount > 0
          ? [...state.grants, newGrant(`adjustment:${adjustmentId}`, 'adjustment', amount, null)]
          : allocations.reduce((rest, one) => change(rest, one.grantId, one.amount, 0), state.grants);
      return { ...state, grants, adjustmentIds: [...state.adjustmentIds, adjustmentId] };
    }
    case 'PeriodClosed': {
      const { data } = event;
      return {
        ...state,
        workspaceId: data.workspaceId,
        period: monthAfter(data.period),
        opening: data.closing,
        subscription: data.subscription,
        subscriptions: data.subscriptions,
        grants: data.openGrants,
        holds: bucketMap(data.openHolds.map((hold) => [hold.reservationId, hold])),
        settled: recentFrom(data.settled),
        orderRefs: data.orderRefs,
        adjustmentIds: data.adjustmentIds,
      };
    }
    default:
      return assertNever(event);
  }
};

const newGrant = (
  grantId: string,
  kind: Grant['kind'],
  credits: number,
  expiresAt: string | null,
): Grant => ({
  grantId,
  kind,
  credits,
  remaining: credits,
  held: 0,
  expiresAt,
});

/** Moves what remains and what is held of one grant; a grant with neither is dropped. */
const change = (
  grants: readonly Grant[],
  grantId: string,
  remaining: number,
  held: number,
): readonly Grant[] =>
  grants
    .map((grant) =>
      grant.grantId === grantId
        ? { ...grant, remaining: grant.remaining + remaining, held: grant.held + held }
        : grant,
    )
    .filter((grant) => grant.remaining > 0 || grant.held > 0);

const settle = (
  state: Credits,
  reservationId: string,
  changed: (grants: readonly Grant[]) => readonly Grant[],
): Credits => ({
  ...state,
  grants: changed(state.grants),
  holds: withoutEntry(state.holds, reservationId),
  settled: remember(state.settled, reservationId),
});
