import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { CLOCK } from '@app/platform/tokens.js';
import { RevokeApiKey } from '../../contracts/commands.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';
import { operatorContext } from '../operator-context.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';

@CommandHandler(RevokeApiKey)
export class RevokeApiKeyHandler implements ICommandHandler<RevokeApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: ApiKeyQuery,
  ) {}

  async execute({ keyId, reason, actor }: RevokeApiKey) {
    const row = await this.keys.find(keyId);
    if (!row) return { outcome: 'unknown_key' } as const;
    const outcome = await this.executor.execute(
      row.workspaceId,
      { type: 'RevokeApiKey', keyId, reason },
      operatorContext(row.workspaceId, `revoke-key:${keyId}`, actor, this.clock.now()),
    );
    if (outcome.kind === 'rejected') return { outcome: 'unknown_key' } as const;
    return { outcome: outcome.kind === 'accepted' ? 'revoked' : 'already_revoked' } as const;
  }
}
