import type { Decider } from '#event-sourcing/core/decider.js';
import { accept, assertNever, ignore, reject, type Decision } from '#event-sourcing/core/decision.js';
import { instant } from '#event-sourcing/core/clock.js';
import { TEST_CREDITS, type TestBookEvent, type TestBookEventOf } from '../../contracts/test-book.js';
import { valuesOf } from '../credits/bucket-map.js';
import { listRecent } from '../credits/recent-ids.js';
import type { TestBookCommand, TestBookRejection } from './test-book.commands.js';
import { evolve, isSettled, noTestBook, testHoldOf, type TestBook } from './test-book.state.js';

type TestBookDecision = Decision<TestBookEvent, TestBookRejection>;
type Of<T extends TestBookCommand['type']> = Extract<TestBookCommand, { type: T }>;

const DAY_MS = 86_400_000;

const decide = (command: TestBookCommand, book: TestBook): TestBookDecision => {
  switch (command.type) {
    case 'ReserveCredits':
      return reserve(command, book);
    case 'ReserveMany':
      return reserveMany(command, book);
    case 'CaptureCredits':
    case 'ReleaseCredits':
      return settle(command, book);
    default:
      return assertNever(command);
  }
};

/** How a test book behaves. Pure: the command carries the time. */
export const testBook: Decider<TestBookCommand, TestBookEvent, TestBook, TestBookRejection> = {
  initialState: noTestBook,
  decide,
  evolve,
};

const reserve = (command: Of<'ReserveCredits'>, book: TestBook): TestBookDecision => {
  const { workspaceId, reservationId, readingId, amount, now } = command;
  if (testHoldOf(book, reservationId)) return ignore('AlreadyReserved');
  if (isSettled(book, reservationId)) return reject('ReservationSettled', { reservationId });
  const fill = dueFill(book, workspaceId, now);
  const { available } = fill ? evolve(book, fill) : book;
  if (available < amount) return reject('InsufficientCredits', { required: amount, available });
  const reserved: TestBookEvent = { type: 'TestCreditsReserved', data: { reservationId, readingId, amount } };
  return fill ? accept<TestBookEvent>(fill, reserved) : accept(reserved);
};

/** As in a live book: one append for all, in their order, without those that are in the book already. */
const reserveMany = (
  { workspaceId, reservations, amount, all, now }: Of<'ReserveMany'>,
  book: TestBook,
): TestBookDecision => {
  const wanted = reservations.filter(
    ({ reservationId }) => !testHoldOf(book, reservationId) && !isSettled(book, reservationId),
  );
  if (wanted.length === 0) return ignore('AlreadyReserved');
  const fill = dueFill(book, workspaceId, now);
  const { available } = fill ? evolve(book, fill) : book;
  const affordable = Math.floor(available / amount);
  if (affordable === 0 && !all && wanted.length < reservations.length) return ignore('AlreadyReserved');
  if (affordable === 0 || (all && affordable < wanted.length))
    return reject('InsufficientCredits', { required: all ? amount * wanted.length : amount, available });
  const reserved = wanted.slice(0, affordable).map(({ reservationId, readingId }): TestBookEvent => ({
    type: 'TestCreditsReserved',
    data: { reservationId, readingId, amount },
  }));
  return fill ? accept<TestBookEvent>(fill, ...reserved) : accept(...reserved);
};

/** A reservation settles exactly once. Only a reservation fills the book, so that no settlement spends a day's fill. */
const settle = (
  { type, reservationId, causeEventId }: Of<'CaptureCredits' | 'ReleaseCredits'>,
  book: TestBook,
): TestBookDecision => {
  const hold = testHoldOf(book, reservationId);
  if (!hold) return ignore(isSettled(book, reservationId) ? 'AlreadySettled' : 'UnknownReservation');
  const data = { ...hold, causeEventId };
  return accept({ type: type === 'CaptureCredits' ? 'TestCreditsCaptured' : 'TestCreditsReleased', data });
};

/**
 * The book as a reservation at this time would find it; for readers, which record nothing.
 * @param now milliseconds
 */
export const testBookAt = (book: TestBook, workspaceId: string, now: number): TestBook => {
  const fill = dueFill(book, workspaceId, now);
  return fill ? evolve(book, fill) : book;
};

/** The fill that a reservation records first; `null`: the day has its fill. */
const dueFill = (
  book: TestBook,
  workspaceId: string,
  now: number,
): TestBookEventOf<'TestBookFilled'> | null =>
  isFilledOn(book, now) ? null : { type: 'TestBookFilled', data: filled(book, workspaceId, dayOf(now)) };

/**
 * Whether the book has been filled for the day. At midnight, another process may be in the next day already. A fill of a
 * later day is the work of a wrong clock: it does not count, or the book would stay empty until that day.
 */
const isFilledOn = ({ day }: TestBook, now: number): boolean =>
  dayOf(now) <= day && day <= dayOf(now + DAY_MS);

const dayOf = (at: number): string => instant(at).slice(0, 10);

/** What is held counts: so a book never has more than TEST_CREDITS, and what a fill carries stays small. */
const filled = (
  { available, held, consumed, holds, settled }: TestBook,
  workspaceId: string,
  day: string,
): TestBookEventOf<'TestBookFilled'>['data'] => {
  const amount = Math.max(0, TEST_CREDITS - available - held);
  return {
    workspaceId,
    day,
    amount,
    available: available + amount,
    consumed,
    openHolds: valuesOf(holds),
    settled: listRecent(settled),
  };
};
