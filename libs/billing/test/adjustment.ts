import type { CreditsCommand } from '../src/domain/credits.decider.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { creditsEvents } from '../src/contracts/events.js';
import { evolve, noBook } from '../src/domain/credits.state.js';
import { Reversals, usedBy } from '../src/domain/value.js';

type BookCorrection = Extract<CreditsCommand, { type: 'BookCorrection' }>;

/** What a book lets corrections reverse. */
export const knownIn = (stored: readonly StoredEvent[]): Reversals => {
  const known = new Reversals();
  let state = noBook;
  for (const one of stored) {
    const event = decode(creditsEvents, one);
    known.see(event, usedBy(event, state));
    state = evolve(state, event);
  }
  return known;
};

/** The command that books one entry. `TestBook` has two operators sign it; others book it without signatures. */
export const adjustment = ({
  adjustmentId,
  amount,
  reason = 'goodwill',
  approvedBy = 'grace',
  actor = 'operator:ada',
  reference = 'INC-42',
  expiresAt = null,
}: {
  readonly adjustmentId: string;
  readonly amount: number;
  readonly reason?: string;
  readonly approvedBy?: string;
  readonly actor?: string;
  readonly reference?: string;
  readonly expiresAt?: string | null;
}): Omit<BookCorrection, 'now'> => ({
  type: 'BookCorrection',
  correctionId: '',
  approvedBy,
  actor,
  known: new Reversals(),
  entries: [
    {
      adjustmentId,
      amount,
      reason,
      reversesEventId: null,
      reference,
      expiresAt,
      grantId: null,
    },
  ],
});
