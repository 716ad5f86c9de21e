import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { RevokedKeys } from '../../authentication/revoked-keys.js';
import { RotateApiKey } from '../../contracts/commands.js';
import { apiKeyText } from '../../domain/api-key/api-key.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';
import type { Config } from '../../settings.js';
import { drawApiKey } from '../draw-api-key.js';
import { refusalOf, termsOf } from '../key-outcome.js';

@CommandHandler(RotateApiKey)
export class RotateApiKeyHandler implements ICommandHandler<RotateApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'API_KEYS_PER_WORKSPACE'>,
    private readonly keys: ApiKeyQuery,
    private readonly revoked: RevokedKeys,
  ) {}

  async execute({ keyId: previous, overlapSeconds, by, manager, ...named }: RotateApiKey) {
    const workspaceId = named.workspaceId ?? (await this.keys.find(previous))?.workspaceId;
    if (workspaceId === undefined) return { outcome: 'unknown_key' } as const;
    const key = drawApiKey(by);
    const { keyId, hash } = key;
    const now = this.clock.now();
    const limit = this.config.API_KEYS_PER_WORKSPACE;
    const overlapMs = overlapSeconds * 1_000;
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'RotateApiKey', keyId, hash, previous, overlapMs, manager, limit, now },
      { intent: `rotate-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind === 'rejected') return refusalOf(outcome);
    const terms = termsOf(outcome, keyId);
    if (!terms) return { outcome: 'unknown_key' } as const;
    const left = outcome.state.standing.get(previous);
    // The projection does this too, but may be late, parked or stopped. The end of a leaked key must not wait for it.
    if (left) await this.keys.shorten(previous, left.endsAt);
    else await this.close(previous, now);
    return {
      outcome: 'rotated',
      keyId,
      apiKey: apiKeyText(terms.mode, key),
      terms,
      previousExpiresAt: instant(left?.endsAt ?? now),
    } as const;
  }

  /** Without overlap the previous key is revoked, so it must end at once, as in RevokeApiKeyHandler. */
  private async close(keyId: string, now: number): Promise<void> {
    this.revoked.add(keyId);
    await this.keys.close(keyId, now);
  }
}
