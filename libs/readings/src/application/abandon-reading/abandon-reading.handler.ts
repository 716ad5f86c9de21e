import type { Clock } from '@app/event-sourcing/core/clock.js';
import { causedBy } from '@app/event-sourcing/core/request-context.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK } from '@app/platform/tokens.js';
import { AbandonReading } from '../../contracts/commands.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';

@CommandHandler(AbandonReading)
export class AbandonReadingHandler implements ICommandHandler<AbandonReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ readingId, workspaceId, reservationId, reason }: AbandonReading) {
    const cause = { correlationId: reservationId, causationId: reservationId };
    const outcome = await this.executor.execute(
      readingId,
      { type: 'AbandonReading', workspaceId, reservationId, reason },
      {
        intent: `abandon:${reservationId}`,
        by: causedBy(cause, 'readings.fence'),
        workspaceId,
        at: this.clock.now(),
      },
    );
    return { outcome: outcome.kind === 'rejected' ? 'claimed' : 'abandoned' } as const;
  }
}
