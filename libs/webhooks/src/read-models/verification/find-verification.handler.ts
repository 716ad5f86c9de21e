import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { FindVerification, type VerificationRecord } from '../../contracts/verification.js';

interface Columns {
  readonly asked_at: Date;
  readonly attempts: number;
  readonly due_at: Date;
  readonly last_error: string | null;
}

@QueryHandler(FindVerification)
export class FindVerificationHandler implements IQueryHandler<FindVerification> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ endpointId }: FindVerification): Promise<VerificationRecord | null> {
    const { rows } = await this.pool.query<Columns>(
      `select asked_at, attempts, greatest(due_at, rest.rests_until) as due_at, last_error
       from webhooks.verification
       join webhooks.endpoint using (endpoint_id)
       left join webhooks.probe_rest rest
         on rest.workspace_id = endpoint.workspace_id and rest.host = verification.host
       where endpoint_id = $1`,
      [endpointId],
    );
    const [row] = rows;
    if (!row) return null;
    return {
      askedAt: row.asked_at.toISOString(),
      attempts: row.attempts,
      nextProbeAt: row.due_at.toISOString(),
      lastError: row.last_error,
    };
  }
}
