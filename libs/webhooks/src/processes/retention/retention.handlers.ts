import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { retentionStatus, runRetention } from '#platform/retention/retention.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';
import { CONFIG } from '#platform/tokens.js';
import { LookAtWebhookRetention, RunWebhookRetention } from '../../contracts/retention.js';
import type { Config } from '../../settings.js';
import { webhookRetentions } from './retentions.js';

@QueryHandler(LookAtWebhookRetention)
export class LookAtWebhookRetentionHandler implements IQueryHandler<LookAtWebhookRetention> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async execute({ now }: LookAtWebhookRetention): Promise<readonly RetentionStatus[]> {
    const retentions = webhookRetentions(this.pool, this.config);
    return Promise.all(retentions.map((one) => retentionStatus(this.pool, one, now)));
  }
}

@CommandHandler(RunWebhookRetention)
export class RunWebhookRetentionHandler implements ICommandHandler<RunWebhookRetention> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async execute({ now, kinds }: RunWebhookRetention): Promise<readonly RetentionRun[]> {
    const never = new AbortController().signal;
    const runs: RetentionRun[] = [];
    for (const one of webhookRetentions(this.pool, this.config)) {
      if (kinds !== null && !kinds.includes(one.kind)) continue;
      const run = await runRetention(this.pool, one, now, never);
      if (run !== null) runs.push(run);
    }
    return runs;
  }
}
