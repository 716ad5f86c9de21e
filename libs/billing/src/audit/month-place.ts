import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { collect } from '#event-sourcing/store/collect.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { CreditsEventOf } from '../contracts/events.js';
import { endOfMonth, monthBefore, monthOf, startOfMonth } from '../domain/credits/calendar.js';
import { bookEvent, isOpaque } from './unreadable-entry.js';

type Close = Recorded<CreditsEventOf<'PeriodClosed'>>;
type Reads = Pick<EventStore, 'read'>;

/** Between the end of a month and its close stand only grants that expired and parts of the close. */
const BEFORE_A_CLOSE = 5_000;

/**
 * The events of a book that the statement of a month is made of: from the close of the month before.
 * @param period `yyyy-mm`, UTC
 */
export async function* readMonth(store: Reads, stream: string, period: string): AsyncGenerator<StoredEvent> {
  const before = await findClose(store, stream, monthBefore(period));
  const from = before ? before.revision - BigInt(before.data.carried?.parts ?? 0) : 0n;
  yield* store.read(stream, { from });
}

/**
 * The close of a month; `null`: it is open, or the book has no such month. Dates ascend in a book, so a search in halves
 * finds the first event after the end of the month, and the close soon after it. A wrong clock may have broken the order:
 * then every event is looked at.
 */
export const findClose = async (store: Reads, stream: string, period: string): Promise<Close | null> => {
  const end = endOfMonth(period);
  const [newest] = await collect(store.read(stream, { direction: 'backwards', limit: 1 }));
  if (!newest || at(newest) < end) return null;
  const low = await firstSince(store, stream, end, newest.revision);
  const near = await closeIn(store.read(stream, { from: low, limit: BEFORE_A_CLOSE }), period);
  return near === undefined ? ((await closeIn(store.read(stream), period)) ?? null) : near;
};

/**
 * The revision of the close of the month before the newest event's; `none`: the book begins in this month; `null`: it is not
 * where it should be, for example because that month is not closed yet.
 */
export const lastClose = async (store: Reads, stream: string): Promise<bigint | 'none' | null> => {
  const [newest] = await collect(store.read(stream, { direction: 'backwards', limit: 1 }));
  if (!newest) return null;
  const month = monthOf(at(newest));
  const low = await firstSince(store, stream, startOfMonth(month), newest.revision);
  const close = await closeIn(store.read(stream, { from: low, limit: BEFORE_A_CLOSE }), monthBefore(month));
  if (close) return close.revision;
  return low === 0n && close === null ? 'none' : null;
};

/** The revision of the first event since a time, if dates ascend; the newest one: there is none. */
const firstSince = async (store: Reads, stream: string, since: number, newest: bigint): Promise<bigint> => {
  let [low, high] = [0n, newest];
  while (low < high) {
    const middle = (low + high) / 2n;
    const [event] = await collect(store.read(stream, { from: middle, limit: 1 }));
    if (event && at(event) < since) low = middle + 1n;
    else high = middle;
  }
  return low;
};

/** `null`: a later month comes first, so this one has no close. `undefined`: these events do not tell. */
const closeIn = async (
  events: AsyncIterable<StoredEvent>,
  period: string,
): Promise<Close | null | undefined> => {
  for await (const stored of events) {
    const event = bookEvent(stored);
    if (isOpaque(event)) continue;
    if (event.type === 'PeriodClosed' && event.data.period === period) return event;
    if ((event.type === 'PeriodClosed' || event.type === 'BookOpened') && event.data.period > period)
      return null;
  }
  return undefined;
};

const at = ({ metadata }: StoredEvent): number => Date.parse(metadata.occurredAt);
