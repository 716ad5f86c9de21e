import type { StoredEvent, Recorded } from '#event-sourcing/core/event.js';
import { collect, type EventStore } from '#event-sourcing/store/event-store.js';
import type { GrantMovement, MonthlyStatement } from '../contracts/audit.js';
import type { Accounts, CreditsEvent, Totals, CreditsEventOf } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/messages.js';
import { evolve, noBook, type Credits } from '../domain/credits.state.js';
import { balances } from '../domain/postings.js';
import { BookMoney } from './book-money.js';
import { ledgerEntry, opaqueEntry, bookEvent, isOpaque, unreadableEntry } from './book-entry.js';
import { endOfMonth, monthBefore } from '../domain/calendar.js';

type MutableGrant = { -readonly [K in keyof GrantMovement]: GrantMovement[K] };

/**
 * The statement of one month, from its part of the stream: from the last PeriodClosed to its own. `null` when nothing
 * is recorded of it.
 */
export const statementOf = async (
  workspaceId: string,
  period: string,
  stored: AsyncIterable<StoredEvent>,
): Promise<MonthlyStatement | null> => {
  let state = noBook;
  let opening: Accounts | null = null;
  let totals: Totals = noBook.totals;
  let closed = false;
  let chain: string | null = null;
  const entries: LedgerEntry[] = [];
  const grants = new Map<string, MutableGrant>();
  const money = new BookMoney();
  const begin = (first: Credits): void => {
    opening = first.opening;
    for (const { grantId, remaining, priceCents } of first.grants)
      Object.assign(grantIn(grants, grantId), { opening: remaining, priceCents });
  };
  for await (const one of stored) {
    const event = bookEvent(one);
    if (isOpaque(event)) {
      if (state.period !== period) continue;
      if (opening === null) begin(state);
      chain = one.metadata.chain ?? null;
      entries.push(opaqueEntry(unreadableEntry(event), balances(state.opening, state.totals)));
      continue;
    }
    const before = state;
    state = evolve(state, event);
    const used = money.see(event, before, state);
    const month = event.type === 'BookOpened' ? event.data.period : before.period;
    if (month > period) break;
    if (month < period) continue;
    if (opening === null) begin(before);
    addTo(grants, event);
    if (event.type === 'CreditsCaptured')
      for (const { grantId, credits } of used) grantIn(grants, grantId).consumed += credits;
    totals = event.type === 'PeriodClosed' ? before.totals : state.totals;
    closed = event.type === 'PeriodClosed';
    chain = event.metadata.chain ?? null;
    entries.push(ledgerEntry(event, balances(state.opening, state.totals)));
    if (closed) break;
  }
  if (opening === null) return null;
  return {
    workspaceId,
    period,
    closed,
    opening,
    totals,
    closing: balances(opening, totals),
    entries,
    grants: [...grants.values()].map((grant) => ({ ...grant, closing: closingOf(grant) })),
    money: closed ? money.closedMonth : money.openMonth(state),
    chain,
  };
};

const grantIn = (grants: Map<string, MutableGrant>, grantId: string): MutableGrant => {
  const grant = grants.get(grantId) ?? {
    grantId,
    priceCents: 0,
    opening: 0,
    granted: 0,
    reserved: 0,
    released: 0,
    consumed: 0,
    expired: 0,
    removed: 0,
    closing: 0,
  };
  grants.set(grantId, grant);
  return grant;
};

/**
 * A release after a grant's expiry lets its credits expire. They were not left in the grant and do not return to it.
 */
const addTo = (grants: Map<string, MutableGrant>, { type, data }: CreditsEvent): void => {
  switch (type) {
    case 'PlanGranted':
    case 'PackPurchased':
      Object.assign(grantIn(grants, data.grantId), { granted: data.credits, priceCents: data.priceCents });
      return;
    case 'CreditsReserved':
      for (const { grantId, amount } of data.allocations) grantIn(grants, grantId).reserved += amount;
      return;
    case 'CreditsReleased':
      for (const { grantId, amount, to } of data.allocations) {
        if (to === 'available') grantIn(grants, grantId).released += amount;
      }
      return;
    case 'GrantExpired':
      grantIn(grants, data.grantId).expired += data.amount;
      return;
    case 'CreditsAdjusted':
      for (const { grantId, amount } of data.allocations) {
        if (amount > 0)
          Object.assign(grantIn(grants, grantId), {
            granted: amount,
            priceCents: data.restores?.priceCents ?? 0,
          });
        else grantIn(grants, grantId).removed -= amount;
      }
      return;
    default:
  }
};

const closingOf = ({ opening, granted, reserved, released, expired, removed }: MutableGrant): number =>
  opening + granted + released - reserved - expired - removed;

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
