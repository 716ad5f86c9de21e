import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { EventMetadata } from '#event-sourcing/core/event.js';
import { TERMS_SOLD } from '../contracts/catalogue.js';
import {
  ACCOUNTS,
  type Account,
  type CreditsEvent,
  type CreditsEventOf,
  type Grant,
  type Hold,
} from '../contracts/events.js';
import type { BucketMap } from './bucket-map.js';
import { noItems, sameItems } from './carried.js';
import { itemsOf, settledToCarry } from './due.js';
import { evolve, grantedBy, holdOf, isSettled, noBook, type Credits } from './credits.state.js';
import { balances, postings } from './postings.js';

type RecordedAs = Pick<EventMetadata, 'occurredAt'>;

type Report = (breach: string) => void;

/**
 * Checks the invariants of a book after every event of its history:
 * - credits are never negative, and none appear or vanish;
 * - grants stay within their bounds, and allocations add up;
 * - a reservation settles once;
 * - held credits equal the sum of the open holds;
 * - a closed month carries the state of the book.
 */
export class InvariantWatch {
  private book = noBook;
  private holds = 0;

  get state(): Credits {
    return this.book;
  }

  /**
   * Returns one sentence for each invariant that this event violates.
   * @param recorded of a stored event. Without it, the settled reservations of a closed month are not compared
   */
  see(event: CreditsEvent, recorded?: RecordedAs): string[] {
    const breaches: string[] = [];
    const report: Report = (breach) => breaches.push(breach);
    this.checkEvent(event, recorded, report);
    const after = evolve(this.book, event);
    this.holds += changeOf(this.book.holds, after.holds);
    this.book = after;
    checkState(after, this.holds, report);
    return breaches;
  }

  private checkEvent(event: CreditsEvent, recorded: RecordedAs | undefined, report: Report): void {
    if (sum(postings(event), ({ amount }) => amount) !== 0) report('postings do not sum to zero');
    if ('allocations' in event.data) {
      const { amount: moved } = event.data;
      const allocations: readonly { readonly amount: number }[] = event.data.allocations;
      if (sum(allocations, ({ amount }) => amount) !== moved) report('allocations do not sum to the amount');
      // Operators sign the amount of a correction alone.
      if (allocations.some(({ amount }) => amount > 0 !== moved > 0))
        report('allocations move credits the other way');
    }
    if (event.type === 'CreditsCaptured' || event.type === 'CreditsReleased') {
      checkSettlement(event, this.book, recorded, report);
    }
    if (event.type === 'PlanGranted' || event.type === 'PackPurchased') checkTerms(event, report);
    if (event.type === 'GrantExpired') checkExpiry(event, this.book, recorded, report);
    if (event.type === 'CreditsReserved' && isKnown(this.book, event.data.reservationId)) {
      report('a reservation is held twice');
    }
    const granted = grantedBy(event);
    if (event.type === 'CreditsAdjusted' && granted !== null)
      if (event.data.allocations.some(({ grantId }) => grantId !== granted))
        report('a correction gives credits to another grant than its own');
    if (granted !== null && this.book.grants.some(({ grantId }) => grantId === granted)) {
      report('a grant is granted twice');
    }
    if (event.type === 'PeriodCarried') checkPart(event, this.book, report);
    else if (event.type === 'PeriodClosed') checkClosing(event, this.book, recorded, report);
    else if (this.book.carried) report('an entry stands between the parts of a closed month');
  }
}

const checkTerms = (
  { data }: CreditsEventOf<'PlanGranted'> | CreditsEventOf<'PackPurchased'>,
  report: Report,
): void => {
  const { credits, priceCents } = data;
  const sold = 'plan' in data ? data.plan : data.pack;
  if (!TERMS_SOLD.get(sold)?.some((terms) => terms.credits === credits && terms.priceCents === priceCents))
    report(`${credits} credits for ${priceCents} cents: ${sold} was never sold on these terms`);
};

const checkPart = ({ data }: CreditsEventOf<'PeriodCarried'>, before: Credits, report: Report): void => {
  const { parts, items } = before.carried ?? { parts: 0, items: noItems };
  const right = { period: before.period, part: parts, ...sameItems(itemsOf(before), items, data) };
  for (const [field, expected] of Object.entries(right)) {
    if (canonicalJson(data[field as keyof typeof data]) !== canonicalJson(expected))
      report(`${field} in a part of the closed month differs from the book`);
  }
};

/** Every member of the closed month. The type makes a new one fail to compile until it is compared too. */
const checkClosing = (
  { data }: CreditsEventOf<'PeriodClosed'>,
  before: Credits,
  recorded: RecordedAs | undefined,
  report: Report,
): void => {
  const { carried } = before;
  if (carried && canonicalJson(carried.items) !== canonicalJson(itemsOf(before)))
    report('the parts of the closed month are not the whole book');
  const items = carried
    ? noItems
    : {
        ...itemsOf(before),
        settled: recorded ? settledToCarry(before, Date.parse(recorded.occurredAt)) : data.settled,
      };
  const right: Readonly<Record<keyof typeof data, unknown>> = {
    workspaceId: before.workspaceId,
    period: before.period,
    opening: before.opening,
    totals: before.totals,
    closing: balances(before.opening, before.totals),
    subscription: before.subscription,
    subscriptions: before.subscriptions,
    ...items,
    eventCount: before.eventCount,
    carried: carried && { parts: carried.parts, digest: carried.digest },
  };
  for (const [field, expected] of Object.entries(right)) {
    if (canonicalJson(data[field as keyof typeof data]) !== canonicalJson(expected))
      report(`the closed month's ${field} differs from the book`);
  }
};

/** A grant ends at the end that it was given. One without an end, such as a pack, does not. */
const checkExpiry = (
  { data }: CreditsEventOf<'GrantExpired'>,
  { grants }: Credits,
  recorded: RecordedAs | undefined,
  report: Report,
): void => {
  const grant = grants.find(({ grantId }) => grantId === data.grantId);
  if (grant && grant.expiresAt !== data.expiredAt) report('a grant expires at another time than its own end');
  if (recorded && recorded.occurredAt < data.expiredAt) report('a grant expires before its end');
};

const checkSettlement = (
  { data }: CreditsEventOf<'CreditsCaptured'> | CreditsEventOf<'CreditsReleased'>,
  before: Credits,
  recorded: RecordedAs | undefined,
  report: Report,
): void => {
  if (isSettled(before, data.reservationId)) report('a reservation settled twice');
  const hold = holdOf(before, data.reservationId);
  if (!hold) report('a reservation settles without a hold');
  else if (hold.amount !== data.amount) report('the settled amount is not the held amount');
  if (!hold || !('allocations' in data)) return;
  const held = hold.allocations.map(({ grantId, amount }) => ({ grantId, amount }));
  const released = data.allocations.map(({ grantId, amount }) => ({ grantId, amount }));
  if (canonicalJson(released) !== canonicalJson(held))
    report('the released credits are not those that were held');
  const lapsed = new Set(data.allocations.flatMap(({ grantId, to }) => (to === 'expired' ? [grantId] : [])));
  const ends = before.grants.flatMap(({ grantId, expiresAt }) => (lapsed.has(grantId) ? [expiresAt] : []));
  if (ends.includes(null)) report('credits expire that have no end');
  if (recorded && ends.some((end) => end !== null && recorded.occurredAt < end))
    report('credits expire before their end');
};

const checkState = ({ opening, totals, grants }: Credits, holds: number, report: Report): void => {
  const balance = (account: Account): number =>
    opening[account] + totals[account].credit - totals[account].debit;
  const [available, held] = [balance('available'), balance('held')];
  if (available < 0 || held < 0) report('credits are negative');
  if (sum(ACCOUNTS, balance) !== 0) report('credits appeared or vanished');
  if (grants.some(outOfBounds)) report('a grant is out of its bounds');
  if (sum(grants, ({ remaining }) => remaining) !== available) {
    report('the remaining credits of grants are not the available credits');
  }
  if (holds !== held) report('the open holds do not add up to the held credits');
  if (sum(grants, (grant) => grant.held) !== held)
    report('the held credits of grants are not the held credits of the book');
};

/** By how much the sum of holds changed. A bucket that both versions share is unchanged and is skipped. */
const changeOf = (before: BucketMap<Hold>, after: BucketMap<Hold>): number => {
  let change = 0;
  after.forEach((bucket, index) => {
    if (bucket !== before[index]) change += amountIn(bucket) - amountIn(before[index]!);
  });
  return change;
};

const amountIn = (bucket: BucketMap<Hold>[number]): number => sum(bucket, ([, { amount }]) => amount);

/** Open, or settled and still remembered by the book. */
const isKnown = (book: Credits, reservationId: string): boolean =>
  holdOf(book, reservationId) !== undefined || isSettled(book, reservationId);

const outOfBounds = ({ remaining, held, credits }: Grant): boolean =>
  remaining < 0 || held < 0 || remaining + held > credits;

const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);
