import type { Clock } from '@app/event-sourcing/core/clock.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK } from '@app/platform/tokens.js';
import { BOOKLET_EXECUTOR, type BookletExecutor } from '../../booklet.executor.js';
import { ChoosePaper } from '../../contracts/commands.js';

@CommandHandler(ChoosePaper)
export class ChoosePaperHandler implements ICommandHandler<ChoosePaper> {
  constructor(
    @Inject(BOOKLET_EXECUTOR) private readonly executor: BookletExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, paper, by }: ChoosePaper) {
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'ChoosePaper', paper },
      { intent: `choose-paper:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
    );
    return { outcome: outcome.kind === 'accepted' ? 'chosen' : 'unchanged' } as const;
  }
}
