import { assertNever } from '#event-sourcing/core/decider.js';
import type {
  Accounts,
  CreditsEvent,
  CreditsEventOf,
  Grant,
  Hold,
  Subscription,
  Totals,
  Allocation,
} from '../contracts/events.js';
import {
  bucketMap,
  getFrom,
  withEntry,
  withoutEntry,
  type BucketMap,
  isRecent,
  noRecentIds,
  recentFrom,
  remember,
  type RecentIds,
} from './bucket-map.js';
import { monthAfter } from './calendar.js';
import { noItems, withPart, type CarriedParts } from './carried.js';
import { emptyAccounts, emptyTotals, post, postings } from './postings.js';

/** A credit book, folded. `PeriodClosed` carries all of it, itself or in parts. */
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
  /** Order lines of packs (see `orderLineOf`). */
  readonly orderRefs: readonly string[];
  readonly adjustmentIds: readonly string[];
  readonly eventCount: number;
  /** The month is being closed: parts of the close are recorded. Any other entry makes them worthless. */
  readonly carried: CarriedParts | null;
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
  carried: null,
};

export const available = ({ opening, totals }: Credits): number =>
  opening.available + totals.available.credit - totals.available.debit;

export const holdOf = (state: Credits, reservationId: string): Hold | undefined =>
  getFrom(state.holds, reservationId);

export const isSettled = (state: Credits, reservationId: string): boolean =>
  isRecent(state.settled, reservationId);

/**
 * The book after an event. Folding long books is most of an audit's work, so each event makes one copy, which is then
 * changed in place.
 */
export const evolve = (state: Credits, event: CreditsEvent): Credits => {
  const book: MutableCredits = { ...state };
  apply(book, event);
  if (event.type === 'PeriodClosed') {
    book.totals = emptyTotals;
    book.eventCount = event.data.eventCount;
  } else {
    book.totals = post(book.totals, postings(event));
  }
  if (event.type !== 'PeriodCarried') book.carried = null;
  book.eventCount += 1;
  return book;
};

type MutableCredits = { -readonly [K in keyof Credits]: Credits[K] };

const apply = (book: MutableCredits, { type, data }: CreditsEvent): void => {
  switch (type) {
    case 'BookOpened':
      book.workspaceId = data.workspaceId;
      book.period = data.period;
      return;
    case 'SubscriptionStarted': {
      const { subscriptionId, plan, anchorDay, startedAt } = data;
      book.subscription = { subscriptionId, plan, anchorDay, nextGrantAt: startedAt };
      book.subscriptions += 1;
      return;
    }
    case 'SubscriptionChanged':
      book.subscription &&= changed(book.subscription, data);
      return;
    case 'SubscriptionCancelled':
      book.subscription = cancelled(book.subscription, data.effectiveAt);
      return;
    case 'PlanGranted':
      book.subscription &&= granted(book.subscription, data);
      book.grants = [...book.grants, newGrant(data, 'plan', data.expiresAt)];
      return;
    case 'PackPurchased':
      book.grants = [...book.grants, newGrant(data, 'pack', null)];
      book.orderRefs = [...book.orderRefs, orderLineOf(data.grantId)];
      return;
    case 'CreditsReserved':
      for (const { grantId, amount } of data.allocations) {
        book.grants = change(book.grants, grantId, -amount, amount);
      }
      book.holds = withEntry(book.holds, data.reservationId, data);
      return;
    case 'CreditsCaptured':
      for (const { grantId, amount } of holdOf(book, data.reservationId)?.allocations ?? []) {
        book.grants = change(book.grants, grantId, 0, -amount);
      }
      settle(book, data.reservationId);
      return;
    case 'CreditsReleased':
      for (const { grantId, amount, to } of data.allocations) {
        book.grants = change(book.grants, grantId, to === 'available' ? amount : 0, -amount);
      }
      settle(book, data.reservationId);
      return;
    case 'GrantExpired':
      book.grants = change(book.grants, data.grantId, -data.amount, 0);
      return;
    case 'CreditsAdjusted': {
      const { adjustmentId, amount, allocations, expiresAt, restores } = data;
      if (amount > 0) {
        const priceCents = restores?.priceCents ?? 0;
        const given = { grantId: `adjustment:${adjustmentId}`, credits: amount, priceCents };
        book.grants = [...book.grants, newGrant(given, 'adjustment', expiresAt ?? null)];
      } else {
        for (const one of allocations) book.grants = change(book.grants, one.grantId, one.amount, 0);
      }
      book.adjustmentIds = [...book.adjustmentIds, adjustmentId];
      return;
    }
    case 'PeriodCarried':
      book.period = data.period;
      book.carried = withPart(book.carried, data);
      return;
    case 'PeriodClosed': {
      const items = data.carried ? (book.carried?.items ?? noItems) : data;
      book.workspaceId = data.workspaceId;
      book.period = monthAfter(data.period);
      book.opening = data.closing;
      book.subscription = data.subscription;
      book.subscriptions = data.subscriptions;
      book.grants = items.openGrants;
      book.holds = bucketMap(items.openHolds.map((hold) => [hold.reservationId, hold]));
      book.settled = recentFrom(items.settled);
      book.orderRefs = items.orderRefs;
      book.adjustmentIds = items.adjustmentIds;
      return;
    }
    default:
      assertNever(type);
  }
};

/** What a book remembers of a pack's order line. */
export const orderLineOf = (packGrantId: string): string => packGrantId.slice('pack:'.length);

const changed = (
  { nextPlan: _, endsAt: __, ...current }: Subscription,
  { plan }: CreditsEventOf<'SubscriptionChanged'>['data'],
): Subscription => (plan === current.plan ? current : { ...current, nextPlan: plan });

/** A cancellation for the next grant stays visible until then, and may be withdrawn. */
const cancelled = (current: Subscription | null, effectiveAt: string): Subscription | null => {
  if (!current || effectiveAt !== current.nextGrantAt) return null;
  const { nextPlan: _, ...rest } = current;
  return { ...rest, endsAt: effectiveAt };
};

const granted = (
  { nextPlan: _, ...current }: Subscription,
  { plan, expiresAt }: CreditsEventOf<'PlanGranted'>['data'],
): Subscription => ({ ...current, plan, nextGrantAt: expiresAt });

/** The id of the grant that an event makes; `null`: it makes none. */
export const grantedBy = ({ type, data }: CreditsEvent): string | null => {
  if (type === 'PlanGranted' || type === 'PackPurchased') return data.grantId;
  return type === 'CreditsAdjusted' && data.amount > 0 ? `adjustment:${data.adjustmentId}` : null;
};

const newGrant = (
  { grantId, credits, priceCents }: Pick<Grant, 'grantId' | 'credits' | 'priceCents'>,
  kind: Grant['kind'],
  expiresAt: string | null,
): Grant => ({ grantId, kind, credits, remaining: credits, held: 0, expiresAt, priceCents });

/** Changes `remaining` and `held` of one grant. A grant with neither is dropped. A book may have thousands of grants. */
const change = (
  grants: readonly Grant[],
  grantId: string,
  remaining: number,
  held: number,
): readonly Grant[] => {
  const index = grants.findIndex((grant) => grant.grantId === grantId);
  if (index < 0) return grants;
  const before = grants[index]!;
  const grant = { ...before, remaining: before.remaining + remaining, held: before.held + held };
  return grant.remaining > 0 || grant.held > 0 ? grants.with(index, grant) : grants.toSpliced(index, 1);
};

const settle = (book: MutableCredits, reservationId: string): void => {
  book.holds = withoutEntry(book.holds, reservationId);
  book.settled = remember(book.settled, reservationId);
};

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
