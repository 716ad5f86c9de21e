import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { causedBy } from '#event-sourcing/core/request-context.js';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import { AbandonReading } from '../../contracts/commands.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';

@CommandHandler(AbandonReading)
export class AbandonReadingHandler implements ICommandHandler<AbandonReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async execute({ readingId, workspaceId, reservationId, livemode, reason }: AbandonReading) {
    const cause = { correlationId: reservationId, causationId: reservationId };
    const outcome = await this.executor.execute(
      readingId,
      { type: 'AbandonReading', workspaceId, reservationId, livemode, reason },
      {
        intent: `abandon:${reservationId}`,
        by: causedBy(cause, 'readings.fence'),
        workspaceId,
        at: await this.clock.now(),
      },
    );
    return { outcome: outcome.kind === 'rejected' ? 'claimed' : 'abandoned' } as const;
  }
}
