import { instant } from '#event-sourcing/core/clock.js';
import { PLANS } from '../contracts/catalogue.js';
import type { CarriedItems, CreditsEvent, CreditsEventOf, Grant, Subscription } from '../contracts/events.js';
import { bytesOf, MOST_DUE_BYTES, MOST_PART_BYTES, nextItems, noItems } from './carried.js';
import { valuesOf, listRecent, noRecentIds } from './bucket-map.js';
import { endOfMonth, monthAfter, nextAnchor } from './calendar.js';
import { evolve, noBook, type Credits } from './credits.state.js';
import { balances } from './postings.js';

interface Due {
  /** Milliseconds. */
  readonly at: number;
  readonly event: () => CreditsEvent;
}

/** What is due in a book, and the book after it. */
export interface DueEvents {
  readonly events: readonly CreditsEvent[];
  readonly state: Credits;
  /** Whether these events are all that is due. The rest does not fit the same append. */
  readonly isAll: boolean;
}

/**
 * What is due in a book by `now` (milliseconds), in the order in which it fell due: expiries, monthly grants and closed
 * months. Every decision records it first, so a correct balance needs no timer.
 *
 * At one instant, credits expire before the month is closed, and the new month is granted after it. Once a part of a
 * close is recorded, its other parts and the close are due at any time: a process whose clock is behind must not book
 * an entry between them.
 */
export const dueBy = (book: Credits, now: number): DueEvents => {
  const events: CreditsEvent[] = [];
  let [state, bytes] = [book, 0];
  for (let next = nextDue(state, now); next; next = nextDue(state, now)) {
    const event = next.event();
    bytes += bytesOf([event]);
    if (bytes > MOST_DUE_BYTES && events.length > 0) return { events, state, isAll: false };
    events.push(event);
    state = evolve(state, event);
  }
  return { events, state, isAll: true };
};

/** Whether something is due in a book by `now` (milliseconds). */
export const isDue = (book: Credits, now: number): boolean => nextDue(book, now) !== null;

/** The book after everything that is due by `now` (milliseconds), however much it is: for readers, which record nothing. */
export const stateAt = (book: Credits, now: number): Credits => {
  let state = book;
  for (let next = nextDue(state, now, periodClosed); next; next = nextDue(state, now, periodClosed))
    state = evolve(state, next.event());
  return state;
};

/** The parts of a book that decide when something is next due in it. */
export type Agenda = Pick<Credits, 'period' | 'subscription' | 'grants'> & Partial<Pick<Credits, 'carried'>>;

/** When something is next due in an open book: a grant, an expiry or the end of the month, whichever comes first. */
export const nextDueAt = (agenda: Agenda): string =>
  instant(firstOf({ ...noBook, ...agenda }, 0, periodClosed).at);

/** The next event of a close, for a time in milliseconds. */
type Close = (state: Credits, now: number) => CreditsEvent;

const nextDue = (state: Credits, now: number, close: Close = closeInParts): Due | null => {
  if (state.workspaceId === null) return null;
  const first = firstOf(state, now, close);
  return first.at <= now || state.carried ? first : null;
};

const firstOf = (state: Credits, now: number, close: Close): Due => {
  const end = { at: endOfMonth(state.period), event: () => close(state, now) };
  if (state.carried) return end;
  const candidates: Due[] = [
    ...expiry(state.grants),
    end,
    ...(state.subscription && !state.subscription.endsAt ? [monthlyGrant(state.subscription)] : []),
  ];
  return candidates.reduce((first, other) => (other.at < first.at ? other : first));
};

/** The first expiry. Instants of equal length are compared as text: a book may have thousands of grants. */
const expiry = (grants: readonly Grant[]): Due[] => {
  let first: Grant | null = null;
  for (const grant of grants)
    if (grant.expiresAt !== null && grant.remaining > 0 && !(first && first.expiresAt! <= grant.expiresAt))
      first = grant;
  if (!first) return [];
  const { grantId, remaining: amount } = first;
  const expiredAt = first.expiresAt!;
  return [
    {
      at: Date.parse(expiredAt),
      event: () => ({ type: 'GrantExpired', data: { grantId, amount, expiredAt } }),
    },
  ];
};

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

/** The close of the open month in one event. It carries the whole book. @param now milliseconds */
export const periodClosed = (state: Credits, now: number): CreditsEventOf<'PeriodClosed'> =>
  closeOf(state, { ...itemsOf(state), settled: settledToCarry(state, now) }, null);

/**
 * What a close in parts carries: everything. Parts may be recorded at several times, so nothing depends on the time.
 */
export const itemsOf = (state: Credits): CarriedItems => ({
  openGrants: [...state.grants],
  openHolds: valuesOf(state.holds),
  settled: listRecent(state.settled),
  orderRefs: [...state.orderRefs],
  adjustmentIds: [...state.adjustmentIds],
});

/** The next event of a close: the close itself when it is small enough, otherwise its next part, and then the close. */
const closeInParts: Close = (state, now) => {
  if (!state.carried) {
    const closed = periodClosed(state, now);
    if (bytesOf([closed]) <= MOST_PART_BYTES) return closed;
  }
  const { parts, digest, items } = state.carried ?? { parts: 0, digest: '', items: noItems };
  const next = nextItems(itemsOf(state), items, MOST_PART_BYTES);
  return next
    ? { type: 'PeriodCarried', data: { period: state.period, part: parts, ...next } }
    : closeOf(state, noItems, { parts, digest });
};

const closeOf = (
  state: Credits,
  items: CarriedItems,
  carried: CreditsEventOf<'PeriodClosed'>['data']['carried'],
): CreditsEventOf<'PeriodClosed'> => ({
  type: 'PeriodClosed',
  data: {
    workspaceId: state.workspaceId!,
    period: state.period,
    opening: state.opening,
    totals: state.totals,
    closing: balances(state.opening, state.totals),
    subscription: state.subscription,
    subscriptions: state.subscriptions,
    ...items,
    eventCount: state.eventCount,
    carried,
  },
});
