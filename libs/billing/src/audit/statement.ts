import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import type { GrantMovement, MonthlyStatement, UnreadableEntry } from '../contracts/audit.js';
import type { Accounts, CreditsEvent, Totals } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/queries.js';
import { evolve, noBook, type Credits } from '../domain/credits/credits.state.js';
import { balances, postings } from '../domain/credits/postings.js';
import { bookEvent, isOpaque, sentenceOf, unreadableEntry } from './unreadable-entry.js';

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
  const entries: LedgerEntry[] = [];
  const grants = new Map<string, MutableGrant>();
  for await (const one of stored) {
    const event = bookEvent(one);
    if (isOpaque(event)) {
      if (opening !== null && !closed) entries.push(opaqueEntry(unreadableEntry(event), state));
      continue;
    }
    const before = state;
    state = evolve(state, event);
    const month = event.type === 'BookOpened' ? event.data.period : before.period;
    if (month > period) break;
    if (month < period) continue;
    if (opening === null) {
      opening = before.opening;
      for (const { grantId, remaining } of before.grants) grantIn(grants, grantId).opening = remaining;
    }
    addTo(grants, event);
    totals = event.type === 'PeriodClosed' ? before.totals : state.totals;
    closed = event.type === 'PeriodClosed';
    entries.push(ledgerEntry(event, state));
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
  };
};

/** An entry that moves nothing. */
export const opaqueEntry = (
  entry: UnreadableEntry,
  { opening, totals }: Pick<Credits, 'opening' | 'totals'>,
): LedgerEntry => {
  const accounts = balances(opening, totals);
  return {
    eventId: entry.eventId,
    occurredAt: entry.occurredAt,
    type: entry.type,
    revision: entry.revision,
    postings: [],
    availableAfter: accounts.available,
    heldAfter: accounts.held,
    readingId: null,
    reservationId: null,
    unreadable: sentenceOf(entry),
  };
};

const ledgerEntry = (event: Recorded<CreditsEvent>, after: Credits): LedgerEntry => {
  const accounts = balances(after.opening, after.totals);
  return {
    eventId: event.id,
    occurredAt: event.metadata.occurredAt,
    type: event.type,
    revision: event.revision,
    postings: postings(event),
    availableAfter: accounts.available,
    heldAfter: accounts.held,
    readingId: 'readingId' in event.data ? event.data.readingId : null,
    reservationId: 'reservationId' in event.data ? event.data.reservationId : null,
  };
};

const grantIn = (grants: Map<string, MutableGrant>, grantId: string): MutableGrant => {
  const grant = grants.get(grantId) ?? {
    grantId,
    opening: 0,
    granted: 0,
    reserved: 0,
    released: 0,
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
      grantIn(grants, data.grantId).granted += data.credits;
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
        if (amount > 0) grantIn(grants, grantId).granted += amount;
        else grantIn(grants, grantId).removed -= amount;
      }
      return;
    default:
  }
};

const closingOf = ({ opening, granted, reserved, released, expired, removed }: MutableGrant): number =>
  opening + granted + released - reserved - expired - removed;
