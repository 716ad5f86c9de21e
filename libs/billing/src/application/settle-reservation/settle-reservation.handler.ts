import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { CreditBooks } from '../credit-books.js';
import { SettleReservation, type SettleResult } from './settle-reservation.command.js';

@CommandHandler(SettleReservation)
export class SettleReservationHandler implements ICommandHandler<SettleReservation> {
  constructor(private readonly books: CreditBooks) {}

  async execute(command: SettleReservation): Promise<SettleResult> {
    const { workspaceId, reservationId, settlement, causeEventId, by } = command;
    const type = settlement === 'capture' ? 'CaptureCredits' : 'ReleaseCredits';
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type, reservationId, causeEventId, now }),
      `${settlement}:${causeEventId}`,
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    if (outcome.kind === 'accepted') return { outcome: 'settled' };
    return { outcome: outcome.reason === 'AlreadySettled' ? 'already_settled' : 'unknown' };
  }
}
