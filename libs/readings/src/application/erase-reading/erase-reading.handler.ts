import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import { CLOCK } from '@app/platform/tokens.js';
import { EraseReading } from '../../contracts/commands.js';
import { WithdrawPublication } from '../../contracts/ports/index.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';

/**
 * Withdraws the publication, records the erasure, then destroys the reading's key. Two streams cannot be appended to at
 * once: the fence comes first, so that nothing can be published after the erasure. A crash after the fence is made good
 * by the erasure process, which asks for the same again; one before the key is destroyed by the projection, which destroys
 * the key of every reading that its stream calls erased.
 */
@CommandHandler(EraseReading)
export class EraseReadingHandler implements ICommandHandler<EraseReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: SubjectKeys,
    private readonly commands: CommandBus,
  ) {}

  async execute({ readingId, workspaceId, by }: EraseReading) {
    const { state } = await this.executor.load(readingId);
    if (state.status === 'none')
      return { outcome: state.erased ? 'already_erased' : 'unknown_reading' } as const;
    await this.commands.execute(new WithdrawPublication(readingId, workspaceId, by));
    await this.executor.execute(
      readingId,
      { type: 'EraseReading' },
      { intent: 'erase', by, workspaceId, at: this.clock.now() },
    );
    await this.keys.destroy(readingId);
    // The process may have recorded it meanwhile: it was this request all the same.
    return { outcome: state.erased ? 'already_erased' : 'erased' } as const;
  }
}
