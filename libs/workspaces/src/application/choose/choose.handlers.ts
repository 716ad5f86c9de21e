import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { type Chosen, ChoosePaper, ChooseWebhookContent } from '../../contracts/commands.js';
import type { Paper } from '../../contracts/events.js';
import { GetPaper } from '../../contracts/queries.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';

type Outcome = Awaited<ReturnType<WorkspaceExecutor['execute']>>;

const chosen = ({ kind }: Outcome): Chosen => {
  if (kind === 'rejected') return { outcome: 'unknown_workspace' };
  return { outcome: kind === 'accepted' ? 'chosen' : 'unchanged' };
};

@CommandHandler(ChoosePaper)
export class ChoosePaperHandler implements ICommandHandler<ChoosePaper> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, paper, by }: ChoosePaper): Promise<Chosen> {
    return chosen(
      await this.executor.execute(
        workspaceId,
        { type: 'ChoosePaper', paper },
        { intent: `choose-paper:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
      ),
    );
  }
}

@QueryHandler(GetPaper)
export class GetPaperHandler implements IQueryHandler<GetPaper> {
  constructor(@Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor) {}

  async execute({ workspaceId }: GetPaper): Promise<Paper> {
    return (await this.executor.load(workspaceId)).state.paper;
  }
}

@CommandHandler(ChooseWebhookContent)
export class ChooseWebhookContentHandler implements ICommandHandler<ChooseWebhookContent> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, content, by }: ChooseWebhookContent): Promise<Chosen> {
    return chosen(
      await this.executor.execute(
        workspaceId,
        { type: 'ChooseWebhookContent', ...content },
        { intent: `choose-content:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
      ),
    );
  }
}
