import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { RevokeApiKey } from '../../contracts/commands.js';
import { RevokedKeys } from '../../authentication/revoked-keys.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';

@CommandHandler(RevokeApiKey)
export class RevokeApiKeyHandler implements ICommandHandler<RevokeApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: ApiKeyQuery,
    private readonly revoked: RevokedKeys,
  ) {}

  async execute({ keyId, reason, by, sees, ...named }: RevokeApiKey) {
    // With the workspace's id, a key can be revoked that no worker has projected yet.
    const workspaceId = named.workspaceId ?? (await this.keys.find(keyId))?.workspaceId;
    if (workspaceId === undefined) return { outcome: 'unknown_key' } as const;
    const now = this.clock.now();
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'RevokeApiKey', keyId, reason, sees },
      { intent: `revoke-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind === 'rejected') {
      // The stream's state remembers the keys revoked last; the rows have all.
      const row = await this.keys.find(keyId);
      const isOwn = row?.workspaceId === workspaceId && sees.includes(row.mode);
      return { outcome: isOwn && row.revokedAt ? 'already_revoked' : 'unknown_key' } as const;
    }
    this.revoked.add(keyId);
    // The projection does this too, but may be late, parked or stopped. Revoking a leaked key must not wait for it.
    await this.keys.close(keyId, now);
    return { outcome: outcome.kind === 'accepted' ? 'revoked' : 'already_revoked' } as const;
  }
}
