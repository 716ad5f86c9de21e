import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { ApiKeyIsKnown } from '../../contracts/queries.js';

export interface ApiKeyRow {
  readonly workspaceId: string;
  /** Lowercase hex SHA-256 of the secret. */
  readonly hash: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

@Injectable()
export class ApiKeyQuery {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async find(keyId: string): Promise<ApiKeyRow | null> {
    const { rows } = await this.pool.query<ApiKeyRow>({
      name: 'api-key',
      text: `select workspace_id as "workspaceId", hash, expires_at as "expiresAt", revoked_at as "revokedAt"
             from workspaces.api_key where key_id = $1`,
      values: [keyId],
    });
    return rows[0] ?? null;
  }
}

@QueryHandler(ApiKeyIsKnown)
export class ApiKeyIsKnownHandler implements IQueryHandler<ApiKeyIsKnown> {
  constructor(private readonly keys: ApiKeyQuery) {}

  async execute({ keyId }: ApiKeyIsKnown): Promise<boolean> {
    return (await this.keys.find(keyId)) !== null;
  }
}
