import { Inject, Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import type { Principal } from '@app/platform/auth/authentication.js';
import type { Config } from '@app/platform/config/settings.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';
import { hashSecret, parseApiKey } from '../domain/api-key/api-key.js';
import { ApiKeyQuery, type ApiKeyRow } from '../read-models/api-key/api-key.query.js';

const CACHED_KEYS = 10_000;

/**
 * Verifies API keys: shape and checksum without asking anyone, then the stored hash in constant time. A row is trusted
 * for API_KEY_CACHE_MS, which bounds how long a revoked key still works.
 */
@Injectable()
export class ApiKeyAuthenticator {
  private readonly cache = new RecentlyUsed<string, { row: ApiKeyRow; until: number }>(CACHED_KEYS);

  constructor(
    private readonly keys: ApiKeyQuery,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'API_KEY_CACHE_MS'>,
  ) {}

  async verify(apiKey: string): Promise<Principal | null> {
    const parsed = parseApiKey(apiKey);
    if (!parsed) return null;
    const row = await this.row(parsed.keyId);
    if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashSecret(parsed.secret)))) return null;
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= this.clock.now();
    if (expired || row.revokedAt !== null) return null;
    return { mode: 'apiKey', workspaceId: row.workspaceId, actor: `apiKey:${parsed.keyId}`, scopes: [] };
  }

  private async row(keyId: string): Promise<ApiKeyRow | null> {
    const now = this.clock.now();
    const cached = this.cache.get(keyId);
    if (cached && cached.until > now) return cached.row;
    const row = await this.keys.find(keyId);
    // Unknown ids are not kept: a key issued a moment ago must work as soon as it is projected.
    if (row) this.cache.set(keyId, { row, until: now + this.config.API_KEY_CACHE_MS });
    return row;
  }
}
