import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomBytes } from 'node:crypto';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { OpenWorkspace } from '../../contracts/commands.js';
import { RANDOM_BYTES, base62 } from '../../domain/api-key/api-key.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';

@CommandHandler(OpenWorkspace)
export class OpenWorkspaceHandler implements ICommandHandler<OpenWorkspace> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ name, by }: OpenWorkspace) {
    const workspaceId = `ws_${base62(randomBytes(RANDOM_BYTES), 22)}`;
    await this.executor.execute(
      workspaceId,
      { type: 'OpenWorkspace', workspaceId, name },
      { intent: 'open', by, workspaceId, at: this.clock.now() },
      { fresh: true },
    );
    return { workspaceId };
  }
}
