import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import {
  ACCOUNTS,
  type Account,
  type CreditsEvent,
  type CreditsEventOf,
  type Grant,
  type Hold,
} from '../../contracts/events.js';
import { valuesOf, type BucketMap } from './bucket-map.js';
import { evolve, holdOf, isSettled, noBook, type Credits } from './credits.state.js';
import { balances, postings } from './postings.js';

/** Told of each breach, one sentence. */
type Tell = (breach: string) => void;

/** Checks a book event by event, for histories too long to hold. */
export class InvariantWatch {
  private book = noBook;
  /** Sum of the open holds. */
  private holds = 0;

  /** The book after the events seen. */
  get state(): Credits {
    return this.book;
  }

  /** Answers one sentence for each invariant this event breaks. */
  see(event: CreditsEvent): string[] {
    const breaches: string[] = [];
    const tell: Tell = (breach) => breaches.push(breach);
    this.checkEvent(event, tell);
    const after = evolve(this.book, event);
    this.holds += changeOf(this.book.holds, after.holds);
    this.book = after;
    checkState(after, this.holds, tell);
    return breaches;
  }

  private checkEvent(event: CreditsEvent, tell: Tell): void {
    if (sum(postings(event), ({ amount }) => amount) !== 0) tell('postings do not sum to zero');
    if ('allocations' in event.data) checkAllocations(event.data, tell);
    if (event.type === 'CreditsCaptured' || event.type === 'CreditsReleased') {
      checkSettlement(event, this.book, tell);
    }
    if (event.type === 'CreditsReserved' && isKnown(this.book, event.data.reservationId)) {
      tell('a reservation is held twice');
    }
    if (event.type === 'PeriodClosed') checkClosing(event, this.book, tell);
  }
}

/**
 * What is always true of a book, checked after every event of its history: credits are never negative, none appear or
 * vanish, grants stay within their bounds, allocations add up, a reservation settles once, what is held is what the
 * open holds hold, and a closed month carries what the book was. Answers one sentence for each breach, with the index
 * of its event.
 */
export const violations = (history: readonly CreditsEvent[]): string[] => {
  const watch = new InvariantWatch();
  return history.flatMap((event, index) =>
    watch.see(event).map((breach) => `${index} ${event.type}: ${breach}`),
  );
};

/** `settled` is left out: how much of it is carried depends on when the month was closed. */
const checkClosing = ({ data }: CreditsEventOf<'PeriodClosed'>, before: Credits, tell: Tell): void => {
  if (data.eventCount !== before.eventCount) tell('the count of events is not their number');
  if (data.period !== before.period) tell('another month is closed than was open');
  const carried: readonly [keyof typeof data, unknown][] = [
    ['workspaceId', before.workspaceId],
    ['opening', before.opening],
    ['totals', before.totals],
    ['closing', balances(before.opening, before.totals)],
    ['subscription', before.subscription],
    ['subscriptions', before.subscriptions],
    ['openGrants', before.grants],
    ['openHolds', valuesOf(before.holds)],
    ['orderRefs', before.orderRefs],
    ['adjustmentIds', before.adjustmentIds],
  ];
  for (const [field, expected] of carried) {
    if (canonicalJson(data[field]) !== canonicalJson(expected)) {
      tell(`the closed month's ${field} is not the book's`);
    }
  }
};

const checkSettlement = (
  { data }: CreditsEventOf<'CreditsCaptured'> | CreditsEventOf<'CreditsReleased'>,
  before: Credits,
  tell: Tell,
): void => {
  if (isSettled(before, data.reservationId)) tell('a reservation settled twice');
  const hold = holdOf(before, data.reservationId);
  if (!hold) tell('what is settled was not held');
  else if (hold.amount !== data.amount) tell('more or less is settled than was held');
};

const checkAllocations = (
  data: {
    readonly amount: number;
    readonly allocations: readonly { readonly amount: number }[];
  },
  tell: Tell,
): void => {
  if (sum(data.allocations, ({ amount }) => amount) !== data.amount) {
    tell('allocations do not sum to the amount');
  }
};

const checkState = ({ opening, totals, grants }: Credits, holds: number, tell: Tell): void => {
  const balance = (account: Account): number =>
    opening[account] + totals[account].credit - totals[account].debit;
  const [available, held] = [balance('available'), balance('held')];
  if (available < 0 || held < 0) tell('credits are negative');
  if (sum(ACCOUNTS, balance) !== 0) tell('credits appeared or vanished');
  if (grants.some(outOfBounds)) tell('a grant is out of its bounds');
  if (sum(grants, ({ remaining }) => remaining) !== available) {
    tell('what grants have left is not what is available');
  }
  if (holds !== held) tell('open holds are not what is held');
  if (sum(grants, (grant) => grant.held) !== held) tell('what grants hold is not what is held');
};

/** By how much the sum of holds changed. A bucket that both versions share was not touched, and is not counted. */
const changeOf = (before: BucketMap<Hold>, after: BucketMap<Hold>): number => {
  let change = 0;
  after.forEach((bucket, index) => {
    if (bucket !== before[index]) change += amountIn(bucket) - amountIn(before[index]!);
  });
  return change;
};

const amountIn = (bucket: BucketMap<Hold>[number]): number => sum(bucket, ([, { amount }]) => amount);

/** Open, or settled as far back as the book remembers. */
const isKnown = (book: Credits, reservationId: string): boolean =>
  holdOf(book, reservationId) !== undefined || isSettled(book, reservationId);

const outOfBounds = ({ remaining, held, credits }: Grant): boolean =>
  remaining < 0 || held < 0 || remaining + held > credits;

const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);
