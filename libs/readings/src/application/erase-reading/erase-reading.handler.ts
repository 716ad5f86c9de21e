import { randomUUID } from 'node:crypto';
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import { CLOCK } from '@app/platform/tokens.js';
import { EraseReading } from '../../contracts/commands.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';

/**
 * Records the erasure, then destroys the reading's key. A crash in between is made good by the projection, which
 * destroys the key of every reading that its stream calls erased.
 */
@CommandHandler(EraseReading)
export class EraseReadingHandler implements ICommandHandler<EraseReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: SubjectKeys,
  ) {}

  async execute({ readingId, workspaceId, actor }: EraseReading) {
    const requestId = randomUUID();
    const outcome = await this.executor.execute(
      readingId,
      { type: 'EraseReading' },
      {
        intent: 'erase',
        metadata: {
          correlationId: requestId,
          causationId: requestId,
          workspaceId,
          actor,
          occurredAt: instant(this.clock.now()),
        },
      },
    );
    if (outcome.kind === 'rejected') return { outcome: 'unknown_reading' } as const;
    await this.keys.destroy(readingId);
    return { outcome: outcome.kind === 'accepted' ? 'erased' : 'already_erased' } as const;
  }
}
