import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { GrantMovement, MonthlyStatement } from '../contracts/audit.js';
import type { Accounts, CreditsEvent, Totals } from '../contracts/events.js';
import type { LedgerEntry } from '../contracts/queries.js';
import { evolve, noBook, type Credits } from '../domain/credits/credits.state.js';
import { balances } from '../domain/credits/postings.js';
import type { UsedCredits } from '../domain/credits/value.js';
import { BookMoney } from './book-money.js';
import { DateNotes } from './date-notes.js';
import { ledgerEntry, opaqueEntry } from './ledger-entry.js';
import { bookEvent, isOpaque, unreadableEntry } from './unreadable-entry.js';

type MutableGrant = { -readonly [K in keyof GrantMovement]: GrantMovement[K] };

/**
 * The statement of one month, from its part of the stream: from the last PeriodClosed to its own. `null` when nothing
 * is recorded of it.
 * @param boundMs CLOCK_REFUSE_MS
 */
export const statementOf = async (
  workspaceId: string,
  period: string,
  stored: AsyncIterable<StoredEvent>,
  boundMs: number,
): Promise<MonthlyStatement | null> => {
  let state = noBook;
  let opening: Accounts | null = null;
  let totals: Totals = noBook.totals;
  let closed = false;
  let chain: string | null = null;
  const entries: LedgerEntry[] = [];
  const dates = new DateNotes(period, boundMs);
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
    if (event.type === 'CreditsCaptured') addCaptured(grants, used);
    totals = event.type === 'PeriodClosed' ? before.totals : state.totals;
    closed = event.type === 'PeriodClosed';
    chain = event.metadata.chain ?? null;
    entries.push(ledgerEntry(event, balances(state.opening, state.totals)));
    dates.see(event);
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
    grants: [...grants.values()].map((grant) => ({
      ...grant,
      closing: closingOf(grant),
    })),
    money: closed ? money.closedMonth : money.openMonth(state),
    notes: [...dates.sentences(), ...unreadableNotes(entries)],
    chain,
  };
};

const unreadableNotes = (entries: readonly LedgerEntry[]): string[] => {
  const count = entries.filter(({ unreadable }) => unreadable !== undefined).length;
  return count === 0
    ? []
    : [`${count} entries are shown and not counted: they cannot be read, or are set aside`];
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

const addCaptured = (grants: Map<string, MutableGrant>, used: readonly UsedCredits[]): void => {
  for (const { grantId, credits } of used) grantIn(grants, grantId).consumed += credits;
};

const closingOf = ({ opening, granted, reserved, released, expired, removed }: MutableGrant): number =>
  opening + granted + released - reserved - expired - removed;
