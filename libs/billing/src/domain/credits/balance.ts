import type { Balance } from '../../contracts/queries.js';
import type { Credits } from './credits.state.js';
import { balances } from './postings.js';

/** The accounts of a book as a customer sees them: issued credits are positive. */
export const balanceOf = ({ opening, totals }: Credits): Balance => {
  const accounts = balances(opening, totals);
  return {
    available: accounts.available,
    held: accounts.held,
    consumed: accounts.consumed,
    expired: accounts.expired,
    granted: 0 - accounts['issued:plan'] - accounts['issued:pack'],
    adjusted: 0 - accounts.adjusted,
  };
};
