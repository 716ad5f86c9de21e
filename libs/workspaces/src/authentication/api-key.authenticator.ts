import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import type { EndedKey, Principal } from '@app/platform/auth/authentication.js';
import type { Config } from '@app/platform/config/settings.js';
import { Notifications } from '@app/platform/postgres/notifications.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';
import { hashSecret, parseApiKey } from '../domain/api-key/api-key.js';
import { ApiKeyQuery, type ApiKeyRow } from '../read-models/api-key/api-key.query.js';
import { API_KEY_REVOKED } from '../read-models/api-key/revocations.js';
import { KeyUse } from './key-use.js';
import { RevokedKeys } from './revoked-keys.js';

const CACHED_KEYS = 10_000;

interface Trusted {
  readonly row: ApiKeyRow;
  /** When it was asked for, milliseconds since the epoch. */
  readonly askedAt: number;
}

/**
 * Verifies API keys: shape and checksum without asking anyone, then the stored hash in constant time. PostgreSQL tells
 * of a revocation at once. Whatever it could not tell, a row is trusted for API_KEY_CACHE_MS since it was asked for, and
 * a process that cannot ask again refuses (503): so long, at most, a revoked key works where PostgreSQL is out of reach.
 */
@Injectable()
export class ApiKeyAuthenticator implements OnApplicationBootstrap, OnApplicationShutdown {
  private cache = new RecentlyUsed<string, Trusted>(CACHED_KEYS);
  private readonly revocations: Notifications;

  constructor(
    private readonly keys: ApiKeyQuery,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'API_KEY_CACHE_MS' | 'DATABASE_URL'>,
    private readonly use: KeyUse,
    private readonly revoked: RevokedKeys,
  ) {
    this.revocations = new Notifications(config.DATABASE_URL, API_KEY_REVOKED, {
      onNotification: (keyId) => this.revoked.add(keyId),
      onConnected: () => {
        this.cache = new RecentlyUsed(CACHED_KEYS);
      },
    });
  }

  onApplicationBootstrap(): void {
    this.revocations.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.revocations.stop();
  }

  /** @returns an ended key only to who has its secret: what is made of it must not tell others that it exists */
  async verify(apiKey: string): Promise<Principal | EndedKey | null> {
    const parsed = parseApiKey(apiKey);
    if (!parsed) return null;
    const { keyId, secret } = parsed;
    const row = await this.row(keyId);
    if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashSecret(secret)))) return null;
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= this.clock.now();
    const identity = { workspaceId: row.workspaceId, actor: `apiKey:${keyId}` };
    if (expired || row.revokedAt !== null || this.revoked.has(keyId)) return { ...identity, isEnded: true };
    this.use.note(keyId);
    return { ...identity, mode: 'apiKey', scopes: [] };
  }

  private async row(keyId: string): Promise<ApiKeyRow | null> {
    const now = this.clock.now();
    const { cache } = this;
    const cached = cache.get(keyId);
    // A clock that was set back must not make a row trusted for longer.
    const age = cached ? now - cached.askedAt : -1;
    if (cached && age >= 0 && age < this.config.API_KEY_CACHE_MS) return cached.row;
    const row = await this.keys.find(keyId);
    // Unknown ids are not kept: a key issued a moment ago must work as soon as it is projected.
    if (row) cache.set(keyId, { row, askedAt: now });
    return row;
  }
}
