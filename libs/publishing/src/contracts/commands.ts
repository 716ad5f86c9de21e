import { Command } from '@nestjs/cqrs';

/**
 * Closes the publications of a reading for ever: from then on none is requested or recorded. What was published before is
 * still there. Asked before the erasure of a reading is recorded, so that nothing is published after it.
 */
export class WithdrawPublication extends Command<void> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly actor: string,
    readonly correlationId: string,
  ) {
    super();
  }
}
