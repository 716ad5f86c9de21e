import type { Accounts } from '../../contracts/events.js';
import type { Balance } from '../../contracts/queries.js';
import type { Credits } from './credits.state.js';
import { balances } from './postings.js';

/** Accounts as a customer sees them: issued credits are positive. */
export const balanceIn = (accounts: Accounts): Balance => ({
  available: accounts.available,
  held: accounts.held,
  consumed: accounts.consumed,
  expired: accounts.expired,
  granted: 0 - accounts['issued:plan'] - accounts['issued:pack'],
  adjusted: 0 - accounts.adjusted,
});

export const balanceOf = ({ opening, totals }: Credits): Balance => balanceIn(balances(opening, totals));
