import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Clock } from '#event-sourcing/core/clock.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { CLOCK } from '#platform/tokens.js';
import { EraseReading } from '../../contracts/commands.js';
import { WithdrawPublication } from '../../contracts/ports/index.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';

/**
 * Withdraws the publication, records the erasure, then destroys the reading's key. No transaction spans the two
 * streams. The withdrawal comes first, so nothing can be published after the erasure.
 * A crash after the withdrawal is repaired by the erasure process, which repeats the command. A crash before the key is
 * destroyed is repaired by the projection. It destroys the key of every reading whose stream has `ReadingErased`.
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
    // The process may have recorded the erasure meanwhile. This request still succeeded.
    return { outcome: state.erased ? 'already_erased' : 'erased' } as const;
  }
}
