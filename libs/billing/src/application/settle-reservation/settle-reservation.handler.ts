import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';
import { TestBooks } from '../test-books.js';
import { SettleReservation, type SettleResult } from './settle-reservation.command.js';

@CommandHandler(SettleReservation)
export class SettleReservationHandler implements ICommandHandler<SettleReservation> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute(command: SettleReservation): Promise<SettleResult> {
    const outcome = await this.settle(command);
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    if (outcome.kind === 'accepted') return { outcome: 'settled' };
    return { outcome: outcome.reason === 'AlreadySettled' ? 'already_settled' : 'unknown' };
  }

  private settle(command: SettleReservation): Promise<CreditsOutcome> {
    const { workspaceId, reservationId, livemode, settlement, causeEventId, by } = command;
    const type = settlement === 'capture' ? 'CaptureCredits' : 'ReleaseCredits';
    return (livemode ? this.books : this.testBooks).execute(
      workspaceId,
      (now) => ({ type, reservationId, causeEventId, now }),
      `${settlement}:${causeEventId}`,
      by,
    );
  }
}
