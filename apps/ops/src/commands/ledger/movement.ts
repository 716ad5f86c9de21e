import type { ExplainedMovement } from '#billing/contracts/index.js';

/** Postings as text for people: `available -20, held +20`. */
export const movement = (
  postings: readonly { readonly account: string; readonly amount: number }[],
): string => postings.map(({ account, amount }) => `${account} ${amount > 0 ? '+' : ''}${amount}`).join(', ');

/** What caused a movement of a reading, or what is known of that. */
export const causeOf = ({
  type,
  cause,
  causationId,
  correlationId,
}: Pick<ExplainedMovement, 'type' | 'cause' | 'causationId' | 'correlationId'>): string => {
  if (cause) return `${cause.type} ${cause.eventId}`;
  if (type === 'CreditsReserved')
    return `unknown: no event of the reading names it${correlationId && ` (request ${correlationId})`}`;
  return `unknown: ${causationId ? `${causationId} is no event of the reading` : 'no event of the reading'}`;
};
