import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { WithdrawPublication } from '#readings/contracts/index.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from '../../publication.executor.js';

@CommandHandler(WithdrawPublication)
export class WithdrawPublicationHandler implements ICommandHandler<WithdrawPublication> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ readingId, workspaceId, by }: WithdrawPublication): Promise<void> {
    await this.executor.execute(
      readingId,
      { type: 'WithdrawPublication', workspaceId },
      { intent: 'withdraw', by, workspaceId, at: this.clock.now() },
    );
  }
}
