import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { ApiKeyIsKnown } from '../../contracts/queries.js';

export interface ApiKeyRow {
  readonly workspaceId: string;
  /** Lowercase hex SHA-256 of the secret. */
  readonly hash: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** What the owner of a key may see of it. Instants are RFC 3339. */
export interface ApiKeySummary {
  readonly keyId: string;
  readonly label: string | null;
  readonly issuedAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

const MOST_KEYS_LISTED = 1_000;

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

  /** Ends a key whose revocation is in the log. @param at milliseconds since the epoch */
  async close(keyId: string, at: number): Promise<void> {
    await this.pool.query(
      'update workspaces.api_key set revoked_at = $2 where key_id = $1 and revoked_at is null',
      [keyId, instant(at)],
    );
  }

  /** Newest first; at most 1,000. */
  async ofWorkspace(workspaceId: string): Promise<readonly ApiKeySummary[]> {
    const { rows } = await this.pool.query<{
      keyId: string;
      label: string | null;
      issuedAt: Date;
      expiresAt: Date | null;
      revokedAt: Date | null;
    }>(
      `select key_id as "keyId", label, issued_at as "issuedAt", expires_at as "expiresAt", revoked_at as "revokedAt"
       from workspaces.api_key where workspace_id = $1 order by issued_at desc, key_id limit $2`,
      [workspaceId, MOST_KEYS_LISTED],
    );
    return rows.map(({ issuedAt, expiresAt, revokedAt, ...key }) => ({
      ...key,
      issuedAt: issuedAt.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
      revokedAt: revokedAt?.toISOString() ?? null,
    }));
  }
}

@QueryHandler(ApiKeyIsKnown)
export class ApiKeyIsKnownHandler implements IQueryHandler<ApiKeyIsKnown> {
  constructor(private readonly keys: ApiKeyQuery) {}

  async execute({ keyId }: ApiKeyIsKnown): Promise<boolean> {
    return (await this.keys.find(keyId)) !== null;
  }
}
