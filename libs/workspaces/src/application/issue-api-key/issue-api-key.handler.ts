import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomBytes } from 'node:crypto';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { CLOCK } from '@app/platform/tokens.js';
import { IssueApiKey } from '../../contracts/commands.js';
import { RANDOM_BYTES, makeApiKey } from '../../domain/api-key/api-key.js';
import { operatorContext } from '../operator-context.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';

@CommandHandler(IssueApiKey)
export class IssueApiKeyHandler implements ICommandHandler<IssueApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, label, expiresAt, actor }: IssueApiKey) {
    const { keyId, apiKey, hash } = makeApiKey({
      id: randomBytes(RANDOM_BYTES),
      secret: randomBytes(RANDOM_BYTES),
    });
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'IssueApiKey', keyId, hash, label, expiresAt },
      operatorContext(workspaceId, `issue-key:${keyId}`, actor, this.clock.now()),
    );
    return outcome.kind === 'rejected'
      ? ({ outcome: 'unknown_workspace' } as const)
      : ({ outcome: 'issued', keyId, apiKey } as const);
  }
}
