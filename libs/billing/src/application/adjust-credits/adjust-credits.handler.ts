import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { AdjustCredits, type AdjustResult } from '../../contracts/commands.js';
import { available } from '../../domain/credits/credits.state.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(AdjustCredits)
export class AdjustCreditsHandler implements ICommandHandler<AdjustCredits> {
  constructor(private readonly books: CreditBooks) {}

  async execute(command: AdjustCredits): Promise<AdjustResult> {
    const { workspaceId, amount, reason, approvedBy, adjustmentId, reversesEventId, reference, expiresAt } =
      command;
    const { grantId, by } = command;
    if (!Number.isSafeInteger(amount) || amount === 0) {
      return invalid('An adjustment is a whole number of credits other than zero');
    }
    if (reason.trim() === '' || approvedBy.trim() === '') {
      return invalid('An adjustment needs a reason and an approver');
    }
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({
        type: 'AdjustCredits',
        adjustmentId,
        amount,
        reason,
        approvedBy,
        reversesEventId,
        expiresAt,
        grantId,
        reference,
        actor: by.actor,
        now,
      }),
      `adjust:${adjustmentId}`,
      by,
    );
    if (outcome.kind !== 'rejected') {
      return {
        outcome: outcome.kind === 'accepted' ? 'adjusted' : 'already_adjusted',
        available: available(outcome.state),
      };
    }
    if (outcome.code === 'InsufficientCredits') {
      return { outcome: 'insufficient', available: outcome.details.available };
    }
    return { outcome: 'book_not_open' };
  }
}

const invalid = (detail: string): AdjustResult => ({ outcome: 'invalid', detail });
