import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { CreditsEvent, CreditsEventOf, Grant, Hold } from '../../contracts/events.js';
import { balanceOf } from './balance.js';
import { getFrom, valuesOf } from './bucket-map.js';
import { evolve, noBook, type Credits } from './credits.state.js';
import { balances, postings } from './postings.js';

/** Checks a book event by event, for histories too long to hold. */
export class InvariantWatch {
  private readonly settled = new Set<string>();
  private book = noBook;

  /** The book after the events seen. */
  get state(): Credits {
    return this.book;
  }

  /** Answers one sentence for each invariant this event breaks. */
  see(event: CreditsEvent): string[] {
    const breaches = [...this.eventBreaches(event)];
    this.book = evolve(this.book, event);
    breaches.push(...stateBreaches(this.book));
    return breaches;
  }

  private *eventBreaches(event: CreditsEvent): Generator<string> {
    if (sum(postings(event), ({ amount }) => amount) !== 0) yield 'postings do not sum to zero';
    if ('allocations' in event.data) yield* allocationBreaches(event.data);
    if (event.type === 'CreditsCaptured' || event.type === 'CreditsReleased') {
      yield* settlementBreaches(event, this.book, this.settled);
    }
    if (event.type === 'PeriodClosed') yield* closingBreaches(event, this.book);
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
function* closingBreaches({ data }: CreditsEventOf<'PeriodClosed'>, before: Credits): Generator<string> {
  if (data.eventCount !== before.eventCount) yield 'the count of events is not their number';
  if (data.period !== before.period) yield 'another month is closed than was open';
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
      yield `the closed month's ${field} is not the book's`;
    }
  }
}

function* settlementBreaches(
  { data }: CreditsEventOf<'CreditsCaptured'> | CreditsEventOf<'CreditsReleased'>,
  before: Credits,
  settled: Set<string>,
): Generator<string> {
  if (settled.has(data.reservationId)) yield 'a reservation settled twice';
  settled.add(data.reservationId);
  const hold: Hold | undefined = getFrom(before.holds, data.reservationId);
  if (!hold) yield 'what is settled was not held';
  else if (hold.amount !== data.amount) yield 'more or less is settled than was held';
}

function* allocationBreaches(data: {
  readonly amount: number;
  readonly allocations: readonly { readonly amount: number }[];
}): Generator<string> {
  if (sum(data.allocations, ({ amount }) => amount) !== data.amount) {
    yield 'allocations do not sum to the amount';
  }
}

function* stateBreaches(state: Credits): Generator<string> {
  const { available, held, consumed, expired, granted, adjusted } = balanceOf(state);
  if (available < 0 || held < 0) yield 'credits are negative';
  if (granted + adjusted !== available + held + consumed + expired) yield 'credits appeared or vanished';
  if (state.grants.some(outOfBounds)) yield 'a grant is out of its bounds';
  if (sum(state.grants, ({ remaining }) => remaining) !== available) {
    yield 'what grants have left is not what is available';
  }
  if (sum(state.holds, inBucket) !== held) yield 'open holds are not what is held';
  if (sum(state.grants, (grant) => grant.held) !== held) yield 'what grants hold is not what is held';
}

const inBucket = (bucket: ReadonlyMap<string, Hold>): number => {
  let total = 0;
  for (const { amount } of bucket.values()) total += amount;
  return total;
};

const outOfBounds = ({ remaining, held, credits }: Grant): boolean =>
  remaining < 0 || held < 0 || remaining + held > credits;

const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);
