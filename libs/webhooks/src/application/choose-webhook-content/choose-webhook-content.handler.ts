import type { Clock } from '@app/event-sourcing/core/clock.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK } from '@app/platform/tokens.js';
import { ChooseWebhookContent } from '../../contracts/commands.js';
import { WEBHOOK_CONTENT_EXECUTOR, type WebhookContentExecutor } from '../../webhook-content.executor.js';

@CommandHandler(ChooseWebhookContent)
export class ChooseWebhookContentHandler implements ICommandHandler<ChooseWebhookContent> {
  constructor(
    @Inject(WEBHOOK_CONTENT_EXECUTOR) private readonly executor: WebhookContentExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, content, by }: ChooseWebhookContent) {
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'ChooseContent', ...content },
      { intent: `choose-content:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
    );
    return { outcome: outcome.kind === 'accepted' ? 'chosen' : 'unchanged' } as const;
  }
}
