import { assertNever } from '#event-sourcing/core/decider.js';
import {
  ACCOUNTS,
  type Account,
  type Accounts,
  type CreditsEvent,
  type Totals,
} from '../contracts/events.js';
import type { Posting, Balance } from '../contracts/messages.js';

/** Double entry: how an event moves credits between accounts. The postings of every event sum to zero. */
export const postings = (event: CreditsEvent): readonly Posting[] => {
  switch (event.type) {
    case 'PlanGranted':
      return move('issued:plan', 'available', event.data.credits);
    case 'PackPurchased':
      return move('issued:pack', 'available', event.data.credits);
    case 'CreditsReserved':
      return move('available', 'held', event.data.amount);
    case 'CreditsCaptured':
      return move('held', 'consumed', event.data.amount);
    case 'CreditsReleased':
      return event.data.allocations.flatMap(({ to, amount }) => move('held', to, amount));
    case 'GrantExpired':
      return move('available', 'expired', event.data.amount);
    case 'CreditsAdjusted':
      return event.data.amount > 0
        ? move('adjusted', 'available', event.data.amount)
        : move('available', 'adjusted', -event.data.amount);
    case 'BookOpened':
    case 'SubscriptionStarted':
    case 'SubscriptionChanged':
    case 'SubscriptionCancelled':
    case 'PeriodCarried':
    case 'PeriodClosed':
      return [];
    default:
      return assertNever(event);
  }
};

const move = (from: Account, to: Account, amount: number): readonly Posting[] =>
  amount === 0
    ? []
    : [
        { account: from, amount: -amount },
        { account: to, amount },
      ];

const perAccount = <V>(value: (account: Account) => V): Record<Account, V> =>
  Object.fromEntries(ACCOUNTS.map((account) => [account, value(account)])) as Record<Account, V>;

export const emptyAccounts: Accounts = perAccount(() => 0);
export const emptyTotals: Totals = perAccount(() => ({ debit: 0, credit: 0 }));

/** Adds postings to the turnover of each account. */
export const post = (totals: Totals, entries: readonly Posting[]): Totals => {
  if (entries.length === 0) return totals;
  const next = { ...totals };
  for (const { account, amount } of entries) {
    const { debit, credit } = next[account];
    next[account] = amount < 0 ? { debit: debit - amount, credit } : { debit, credit: credit + amount };
  }
  return next;
};

export const balances = (opening: Accounts, totals: Totals): Accounts =>
  perAccount((account) => opening[account] + totals[account].credit - totals[account].debit);

/** Accounts as a customer sees them: issued credits are positive. */
export const balanceIn = (accounts: Accounts): Balance => ({
  available: accounts.available,
  held: accounts.held,
  consumed: accounts.consumed,
  expired: accounts.expired,
  granted: 0 - accounts['issued:plan'] - accounts['issued:pack'],
  adjusted: 0 - accounts.adjusted,
});

export const balanceOf = (book: { readonly opening: Accounts; readonly totals: Totals }): Balance =>
  balanceIn(balances(book.opening, book.totals));
