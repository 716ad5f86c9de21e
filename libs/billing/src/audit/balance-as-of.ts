import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '#event-sourcing/core/event.js';
import type { AsOf } from '../contracts/audit.js';
import { creditsEvents } from '../contracts/events.js';
import type { Balance } from '../contracts/queries.js';
import { balanceOf } from '../domain/credits/balance.js';
import { evolve, noBook } from '../domain/credits/credits.state.js';
import { stateAt } from '../domain/credits/due.js';
import { timeOf } from './record-time.js';

/**
 * Folds a book up to a revision or an instant. At an instant, credits expired by then count as expired.
 * @param boundMs CLOCK_REFUSE_MS
 * @throws CorruptEvent for an entry that cannot be read and is not set aside: the balance after it is not known
 */
export const balanceAsOf = async (
  stored: AsyncIterable<StoredEvent>,
  asOf: AsOf,
  boundMs: number,
): Promise<Balance | null> => {
  let state = noBook;
  for await (const event of stored) {
    const later = 'revision' in asOf ? event.revision > asOf.revision : timeOf(event, boundMs) > asOf.instant;
    if (later) break;
    if (!isSetAside(event)) state = evolve(state, decode(creditsEvents, event));
  }
  if (state.workspaceId === null) return null;
  return balanceOf('instant' in asOf ? stateAt(state, asOf.instant) : state);
};
