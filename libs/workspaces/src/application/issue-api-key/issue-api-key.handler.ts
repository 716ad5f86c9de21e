import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Clock } from '#event-sourcing/core/clock.js';
import { ORDINARY_SCOPES } from '#platform/auth/scopes.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { IssueApiKey, type IssuedKey, type KeyRefusal } from '../../contracts/commands.js';
import { apiKeyText } from '../../domain/api-key/api-key.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';
import type { Config } from '../../settings.js';
import { drawApiKey } from '../draw-api-key.js';
import { refusalOf, termsOf } from '../key-outcome.js';

@CommandHandler(IssueApiKey)
export class IssueApiKeyHandler implements ICommandHandler<IssueApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'API_KEYS_PER_WORKSPACE'>,
  ) {}

  async execute({ workspaceId, asked, by, manager }: IssueApiKey): Promise<IssuedKey | KeyRefusal> {
    const key = drawApiKey(by);
    const { keyId, hash } = key;
    const now = this.clock.now();
    const limit = this.config.API_KEYS_PER_WORKSPACE;
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'IssueApiKey', keyId, hash, asked, ordinaryScopes: ORDINARY_SCOPES, manager, limit, now },
      { intent: `issue-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind === 'rejected') return refusalOf(outcome);
    const terms = termsOf(outcome, keyId);
    if (!terms) return { outcome: 'unknown_key' };
    return { outcome: 'issued', keyId, apiKey: apiKeyText(asked.mode, key), terms };
  }
}
