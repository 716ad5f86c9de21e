import type { CreditsCommand } from '../src/domain/credits.commands.js';
import { nothingKnown } from '../src/domain/value.js';

type BookCorrection = Extract<CreditsCommand, { type: 'BookCorrection' }>;

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
  once: false,
  known: nothingKnown,
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
