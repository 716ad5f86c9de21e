import { randomBytes } from 'node:crypto';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';
import { IssueApiKey } from '../../contracts/commands.js';
import { RANDOM_BYTES, makeApiKey } from '../../domain/api-key/api-key.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';
import type { Config } from '../../settings.js';

@CommandHandler(IssueApiKey)
export class IssueApiKeyHandler implements ICommandHandler<IssueApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'API_KEYS_PER_WORKSPACE'>,
  ) {}

  async execute({ workspaceId, key: terms, by }: IssueApiKey) {
    const { keyId, apiKey, hash } = makeApiKey(terms.mode, {
      id: randomBytes(RANDOM_BYTES),
      secret: randomBytes(RANDOM_BYTES),
    });
    const now = this.clock.now();
    const limit = this.config.API_KEYS_PER_WORKSPACE;
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'IssueApiKey', keyId, hash, terms, limit, now },
      { intent: `issue-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind !== 'rejected') return { outcome: 'issued', keyId, apiKey } as const;
    return outcome.code === 'KeyLimitReached'
      ? ({ outcome: 'key_limit_reached', limit } as const)
      : ({ outcome: 'unknown_workspace' } as const);
  }
}
