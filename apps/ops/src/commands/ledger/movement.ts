import type { Posting } from '@app/billing/contracts/index.js';

/** Postings as text for people: `available -20, held +20`. */
export const movement = (postings: readonly Posting[]): string =>
  postings.map(({ account, amount }) => `${account} ${amount > 0 ? '+' : ''}${amount}`).join(', ');
