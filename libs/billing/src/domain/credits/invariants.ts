import type { CreditsEvent, CreditsEventOf, Grant, Hold } from '../../contracts/events.js';
import { balanceOf } from './balance.js';
import { getFrom, valuesOf } from './bucket-map.js';
import { evolve, noBook, type Credits } from './credits.state.js';
import { postings } from './postings.js';

/**
 * What is always true of a book, checked after every event of its history: credits are never negative, none appear or
 * vanish, grants stay within their bounds, allocations add up, a reservation settles once, and what is held is what the
 * open holds hold. Answers one sentence for each breach, with the index of its event.
 */
export const violations = (history: readonly CreditsEvent[]): string[] => {
  const found: string[] = [];
  const settled = new Set<string>();
  let state = noBook;
  for (const [index, event] of history.entries()) {
    const breaches = [...eventBreaches(event, state, settled)];
    state = evolve(state, event);
    breaches.push(...stateBreaches(state));
    found.push(...breaches.map((breach) => `${index} ${event.type}: ${breach}`));
  }
  return found;
};

function* eventBreaches(event: CreditsEvent, before: Credits, settled: Set<string>): Generator<string> {
  if (sum(postings(event), ({ amount }) => amount) !== 0) yield 'postings do not sum to zero';
  if ('allocations' in event.data) yield* allocationBreaches(event.data);
  if (event.type === 'CreditsCaptured' || event.type === 'CreditsReleased') {
    yield* settlementBreaches(event, before, settled);
  }
  if (event.type === 'PeriodClosed' && event.data.eventCount !== before.eventCount) {
    yield 'the count of events is not their number';
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
  if (sum(valuesOf(state.holds), ({ amount }) => amount) !== held) yield 'open holds are not what is held';
  if (sum(state.grants, (grant) => grant.held) !== held) yield 'what grants hold is not what is held';
}

const outOfBounds = ({ remaining, held, credits }: Grant): boolean =>
  remaining < 0 || held < 0 || remaining + held > credits;

const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);
