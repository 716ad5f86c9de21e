import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { TEST_CREDITS, type TestBookEvent, type TestBookEventOf } from '../../contracts/test-book.js';
import { valuesOf } from '../credits/bucket-map.js';
import { listRecent } from '../credits/recent-ids.js';
import { evolve, isSettled, noTestBook, testHoldOf, type TestBook } from './test-book.state.js';

/**
 * Checks a test book event by event:
 * - it is opened by a fill, is never overdrawn, and never has more than TEST_CREDITS;
 * - a reservation is held once, and settles once, for what it held;
 * - a fill carries the state of the book, and no day has two in a row.
 */
export class TestBookWatch {
  private book = noTestBook;

  /** The book after the events seen so far. */
  get state(): TestBook {
    return this.book;
  }

  /** Returns one sentence for each invariant that this event violates. */
  see(event: TestBookEvent): string[] {
    const before = this.book;
    this.book = evolve(before, event);
    return [...breachesOf(event, before), ...breachesAfter(this.book)];
  }
}

/** Of a whole history: with the index of each event. */
export const testBookViolations = (history: readonly TestBookEvent[]): string[] => {
  const watch = new TestBookWatch();
  return history.flatMap((event, index) =>
    watch.see(event).map((breach) => `${index} ${event.type}: ${breach}`),
  );
};

const breachesOf = (event: TestBookEvent, before: TestBook): string[] => {
  if (event.type === 'TestBookFilled') return breachesOfFill(event.data, before);
  if (before.workspaceId === null) return ['the book was not opened by a fill'];
  const { reservationId, readingId, amount } = event.data;
  const hold = testHoldOf(before, reservationId);
  if (event.type === 'TestCreditsReserved')
    return hold || isSettled(before, reservationId) ? ['a reservation is held twice'] : [];
  if (isSettled(before, reservationId)) return ['a reservation settled twice'];
  if (!hold) return ['a reservation settles without a hold'];
  return hold.amount === amount && hold.readingId === readingId
    ? []
    : ['the settlement is not of what was held'];
};

const breachesOfFill = (data: TestBookEventOf<'TestBookFilled'>['data'], before: TestBook): string[] => {
  const isFirst = before.workspaceId === null;
  const right = {
    workspaceId: isFirst ? data.workspaceId : before.workspaceId,
    available: before.available + data.amount,
    consumed: before.consumed,
    openHolds: valuesOf(before.holds),
    settled: listRecent(before.settled),
  };
  return [
    ...(data.day === before.day ? ['the day was filled before'] : []),
    ...Object.entries(right).flatMap(([field, expected]) =>
      canonicalJson(data[field as keyof typeof right]) === canonicalJson(expected)
        ? []
        : [`the fill's ${field} differs from the book`],
    ),
  ];
};

const breachesAfter = ({ available, held }: TestBook): string[] => [
  ...(available < 0 || held < 0 ? ['credits are negative'] : []),
  ...(available + held > TEST_CREDITS ? [`the book has more than ${TEST_CREDITS} credits`] : []),
];
