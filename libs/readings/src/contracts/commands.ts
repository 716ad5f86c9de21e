import { Command } from '@nestjs/cqrs';

/**
 * Fences a reservation that no reading names: afterwards no reading can be accepted on it. `claimed` when a reading
 * does name it; then nothing changes.
 */
export class AbandonReading extends Command<{ outcome: 'abandoned' | 'claimed' }> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly reservationId: string,
    readonly reason: string,
  ) {
    super();
  }
}
