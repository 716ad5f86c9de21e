import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { FindExpiringKeys } from '../../contracts/queries.js';

const PAGE = 500;

@QueryHandler(FindExpiringKeys)
export class FindExpiringKeysHandler implements IQueryHandler<FindExpiringKeys> {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async execute({ from, withinMs, after }: FindExpiringKeys) {
    const { rows } = await this.pool.query<{
      key_id: string;
      workspace_id: string;
      mode: Mode;
      expires_at: Date;
    }>(
      `select key_id, workspace_id, mode, expires_at from workspaces.api_key
       where key_id > $3 and revoked_at is null and expires_at > $1::timestamptz
         and expires_at <= $1::timestamptz + $2 * interval '1 millisecond'
         and issued_at <= expires_at - $2 * interval '1 millisecond'
       order by key_id limit ${PAGE}`,
      [from, withinMs, after],
    );
    const found = rows.map((row) => ({
      workspaceId: row.workspace_id,
      keyId: row.key_id,
      mode: row.mode,
      expiresAt: row.expires_at.toISOString(),
    }));
    return { found, next: found.length < PAGE ? null : found.at(-1)!.keyId };
  }
}
